package sim

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"ovgen/runtime/driver"
)

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
			must(d.Matmul(m, driver.Operands{C: remote, A: a, B: a, Workspace: space}, s))
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

// TestInOrder: a product in order adds from front to end, and a bias last, as kernels of tiles do on a host.
func TestInOrder(t *testing.T) {
	const big = 1 << 24 // with one added it stays as it is
	for name, c := range map[string]struct {
		desc driver.MatmulDesc
		a, b []float32
		want float32
	}{
		"by rows of the weight": {driver.MatmulDesc{M: 1, K: 4, N: 2, Transposed: true, Bias: true},
			[]float32{big, 1, -big, 1}, []float32{3, 3, 3, 3, 1, 1, 1, 1}, 1 + 5},
		"by columns": {driver.MatmulDesc{M: 1, K: 4, N: 2, Bias: true},
			[]float32{big, 1, -big, 1}, []float32{3, 1, 3, 1, 3, 1, 3, 1}, 1 + 5},
		"the other way round": {driver.MatmulDesc{M: 1, K: 4, N: 2, Transposed: true, Bias: true},
			[]float32{1, -big, 1, big}, []float32{3, 3, 3, 3, 1, 1, 1, 1}, 2 + 5},
	} {
		t.Run(name, func(t *testing.T) {
			c.desc.Type, c.desc.InOrder = driver.FP32, true
			floats := [3][]float32{c.a, c.b, make([]float32, 2)}
			copy(floats[2], []float32{5, 5}) // the bias
			multiply(&c.desc, floats, [2][]float32{}, false)
			if floats[2][1] != c.want {
				t.Errorf("got %v, want %v", floats[2][1], c.want)
			}
		})
	}
}
