package sim

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"ovgen/runtime/driver"
)

func TestGelu(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{0, 0}, {1, 0.8411919906}, {-1, -0.1588080094}, {0.5, 0.3457140230}, {3, 2.9963627124}, {-3, -0.0036372876},
	} {
		if got := gelu(float32(c.x)); math.Abs(float64(got)-c.want) > 1e-6 {
			t.Errorf("gelu(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	for _, x := range []float32{6, 16, 1e4, 1e30} {
		if got := gelu(x); got != x {
			t.Errorf("gelu(%v) = %v, want it unchanged", x, got)
		}
		if got := gelu(-x); got != 0 {
			t.Errorf("gelu(%v) = %v, want 0", -x, got)
		}
	}
}

// TestRemoteProduct adds a product to what a peer's memory holds; the peer must not
// touch that at the same time.
func TestRemoteProduct(t *testing.T) {
	for _, c := range []struct {
		name   string
		beside bool // the peer writes, unordered with the product
		want   string
	}{{"alone", false, ""}, {"beside a write", true, "matmul) "}} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWorld(Config{Devices: 2, Seed: 3})
			defer w.Close()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			var ranks [2]driver.Driver
			for i := range ranks {
				d, err := w.Open(i)
				must(err)
				ranks[i] = d
			}
			one := []byte{0, 0, 0x80, 0x3f} // fp32
			alloc := func(d driver.Driver, bytes int64) driver.Ptr {
				p, err := d.MemAlloc(bytes)
				must(err)
				return p
			}
			held := alloc(ranks[1], 4)
			must(ranks[1].MemcpyHtoD(held, one))
			h, err := ranks[1].IpcGetMemHandle(held)
			must(err)
			d := ranks[0]
			remote, err := d.IpcOpenMemHandle(h)
			must(err)
			a, space := alloc(d, 4), alloc(d, driver.WorkspaceBytes)
			must(d.MemcpyHtoD(a, one))
			m, err := d.MatmulCreate(driver.MatmulDesc{M: 1, K: 1, N: 1, Type: driver.FP32, Accumulate: true})
			must(err)
			s, err := d.StreamCreateWithPriority(driver.Low)
			must(err)
			other, err := ranks[1].StreamCreateWithPriority(driver.Low)
			must(err)
			must(d.Matmul(m, remote, a, a, 0, space, s))
			if c.beside {
				must(ranks[1].MemsetD32Async(held, 0, 1, other))
			}
			must(d.StreamSynchronize(s))
			must(ranks[1].StreamSynchronize(other))
			if c.want != "" {
				if r := w.Races(); len(r) == 0 || !strings.Contains(r[0].String(), c.want) {
					t.Errorf("races %v, want one with %q", r, c.want)
				}
				return
			}
			for _, r := range w.Races() {
				t.Error(r)
			}
			got := make([]byte, 4)
			must(ranks[1].MemcpyDtoH(got, held))
			if math.Float32frombits(binary.LittleEndian.Uint32(got)) != 2 {
				t.Errorf("1 + 1*1 is % x", got)
			}
		})
	}
}
