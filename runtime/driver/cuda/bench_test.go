//go:build linux && cgo

package cuda

import (
	"errors"
	"fmt"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/choices"
)

// BenchmarkEnqueue is the host's part of the calls of a run.
func BenchmarkEnqueue(b *testing.B) {
	d := device(b)
	s, err := d.StreamCreateWithPriority(driver.High)
	must(b, err)
	e, err := d.EventCreate(false)
	must(b, err)
	p, err := d.MemAlloc(1 << 20)
	must(b, err)
	items := []driver.MemOp{{Kind: driver.Write, Value: 1, Address: p}, {Kind: driver.WaitEqual, Value: 1, Address: p}}
	m, err := d.MatmulCreate(driver.MatmulDesc{M: 16, K: 16, N: 16, Type: driver.BF16, Bias: true})
	must(b, err)
	workspace, err := d.MemAlloc(driver.WorkspaceBytes)
	must(b, err)
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"write and wait", func() error { return d.StreamBatchMemOp(s, items) }},
		{"event", func() error { return d.EventRecordWithFlags(e, s, 0) }},
		{"wait for event", func() error { return d.StreamWaitEvent(s, e, 0) }},
		{"copy", func() error { return d.MemcpyDtoDAsync(p+4096, p, 4096, s) }},
		{"matmul", func() error {
			return d.Matmul(m, driver.Operands{C: p + 8192, A: p, B: p, Bias: p, Workspace: workspace}, s)
		}},
		{"query", func() error { _, err := d.EventQuery(e); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				must(b, c.call())
				if i%200 == 199 { // keep the queue from filling
					b.StopTimer()
					must(b, d.StreamSynchronize(s))
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkKnownProduct makes products whose algorithms are known, each on a driver that is new to them.
func BenchmarkKnownProduct(b *testing.B) {
	b.Setenv(choices.Variable, b.TempDir())
	for _, m := range []int{16, 512, 4096} {
		b.Run(fmt.Sprintf("%d,8192,7168", m), func(b *testing.B) {
			desc := driver.MatmulDesc{M: m, K: 8192, N: 7168, Type: driver.BF16, Transposed: true}
			for b.Loop() {
				b.StopTimer()
				d, err := backend{}.Open(0, 0)
				must(b, err)
				warm, err := d.MatmulCreate(driver.MatmulDesc{M: 16, K: 16, N: 16, Type: driver.BF16}) // the library
				must(b, err)
				if _, err := device(b).MatmulCreate(desc); err != nil { // tuned the first time
					b.Fatal(err)
				}
				b.StartTimer()
				x, err := d.MatmulCreate(desc)
				must(b, err)
				b.StopTimer()
				must(b, errors.Join(d.MatmulDestroy(x), d.MatmulDestroy(warm), d.Close()))
				b.StartTimer()
			}
		})
	}
}

// BenchmarkMatmul tunes the products of four ranks and times the one it kept.
func BenchmarkMatmul(b *testing.B) {
	d := device(b)
	for _, c := range []struct {
		name    string
		m, k, n int
	}{
		{"8192,8192,8192", 8192, 8192, 8192},
		{"2048,8192,3584", 2048, 8192, 3584},
		{"512,8192,3584", 512, 8192, 3584},
		{"512,4096,3584", 512, 4096, 3584},
		{"128,4096,3584", 128, 4096, 3584},
	} {
		for _, desc := range []driver.MatmulDesc{
			{M: c.m, K: c.k, N: c.n, Type: driver.BF16},
			{M: c.m, K: c.k, N: c.n, Type: driver.BF16, Transposed: true, Bias: true},
		} {
			name := c.name
			if desc.Transposed {
				name += " linear"
			}
			b.Run(name, func(b *testing.B) { multiply(b, d, desc) })
		}
	}
}

// BenchmarkScaled times products of e4m3, and of e5m2 by e4m3, beside bf16's, of layers of models of 8 and 70 billion
// parameters. The weights of most do not fit into the cache.
func BenchmarkScaled(b *testing.B) {
	d := device(b)
	for _, s := range [][2]int{{4096, 6144}, {4096, 4096}, {4096, 28672}, {14336, 4096}, {8192, 14336}} {
		for _, m := range []int{16, 24, 64, 128, 256, 512, 1024, 2048, 4096} {
			for _, desc := range []driver.MatmulDesc{{}, {Of: driver.E4M3}, {Of: driver.E4M3, RowScales: true},
				{Of: driver.E4M3, BlockScales: true}, {Of: driver.E5M2, OfB: driver.E4M3},
				{Of: driver.E5M2, OfB: driver.E4M3, RowScales: true}} {
				desc.M, desc.K, desc.N, desc.Type, desc.Transposed = m, s[0], s[1], driver.BF16, true
				b.Run(fmt.Sprintf("%d,%d,%d %s, scales of rows %t, of blocks %t", m, s[0], s[1], desc.Operand(),
					desc.RowScales, desc.BlockScales), func(b *testing.B) { multiply(b, d, desc) })
			}
		}
	}
}

func multiply(b *testing.B, d *Driver, desc driver.MatmulDesc) {
	m, err := d.MatmulCreate(desc)
	must(b, err)
	x, err := d.newScratch(desc, false)
	must(b, err)
	must(b, driver.Fill(d, x.memory, x.bytes, desc.Operand(), x.stream))
	b.ResetTimer()
	for range b.N { // not b.Loop, which would stop the clock before the wait
		must(b, d.Matmul(m, x.Operands, x.stream))
	}
	must(b, d.StreamSynchronize(x.stream))
	b.StopTimer()
	perRun := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(2*float64(desc.M)*float64(desc.K)*float64(desc.N)/perRun/1e12, "TFLOP/s")
	must(b, d.freeScratch(x))
	must(b, d.MatmulDestroy(m))
}
