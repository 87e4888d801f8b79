package drivertest

import (
	"testing"

	"ovgen/runtime/driver"
)

// NoAllocs checks that the calls of a steady run make no Go allocation.
func NoAllocs(t *testing.T, open func() driver.Driver) {
	d := open()
	b := &bench{T: t, d: d}
	t.Cleanup(func() { b.must(d.Close()) })
	s, other, e := b.stream(driver.Normal), b.stream(driver.High), b.event(false)
	p := b.put(make([]byte, 4096))
	items := []driver.MemOp{
		{Kind: driver.Write, Value: 1, Address: p},
		{Kind: driver.WaitEqual, Value: 1, Address: p},
	}
	desc := driver.MatmulDesc{M: 16, K: 16, N: 16, Type: driver.BF16, Bias: true}
	m, err := d.MatmulCreate(desc)
	b.must(err)
	t.Cleanup(func() { b.must(d.MatmulDestroy(m)) })
	x := driver.Operands{C: b.alloc(512), A: b.put(make([]byte, 512)), B: b.put(make([]byte, 512)),
		Bias: b.put(make([]byte, 32)), Workspace: b.alloc(driver.WorkspaceBytes)}
	for name, call := range map[string]func() error{
		"StreamBatchMemOp": func() error { return d.StreamBatchMemOp(s, items) },
		"Memcpy2DAsync": func() error {
			return d.Memcpy2DAsync(driver.Memcpy2D{Dst: p + 2048, DstPitch: 64, Src: p, SrcPitch: 32, Width: 16,
				Height: 8}, s)
		},
		"MemcpyDtoDAsync":      func() error { return d.MemcpyDtoDAsync(p+2048, p, 1024, s) },
		"MemsetD32Async":       func() error { return d.MemsetD32Async(p, 0, 4, s) },
		"EventRecordWithFlags": func() error { return d.EventRecordWithFlags(e, s, 0) },
		"StreamWaitEvent":      func() error { return d.StreamWaitEvent(other, e, 0) },
		"EventQuery":           func() error { _, err := d.EventQuery(e); return err },
		"StreamQuery":          func() error { _, err := d.StreamQuery(s); return err },
		"StreamIsCapturing":    func() error { _, err := d.StreamIsCapturing(s); return err },
		"StreamSynchronize":    func() error { return d.StreamSynchronize(s) },
		"Matmul":               func() error { return d.Matmul(m, x, s) },
	} {
		n := testing.AllocsPerRun(100, func() { b.must(call()) })
		b.must(d.CtxSynchronize())
		if n != 0 {
			t.Errorf("%s makes %v allocations a call", name, n)
		}
	}
}
