package dump

import (
	"fmt"
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/around"
	"ovgen/runtime/plan"
)

// operation is a call that enqueues a part of a run.
type operation struct {
	Step   int    `json:"step"` // of the host program's step
	Stream string `json:"stream"`
	Call   string `json:"call"` // "copy", "record event 2", "kernel shot_bf16, 32 blocks of 512"
	Uses   []use  `json:"uses,omitempty"`
}

// use is a piece of memory of an operation. Name is the name of the buffer, the semaphore or the stream's word;
// it is empty where there is none.
type use struct {
	Do     string  `json:"do"` // read, write or wait; take: a kernel has the address as a parameter
	Name   string  `json:"name,omitempty"`
	Rank   int     `json:"rank"` // the rank that has the memory
	Offset int64   `json:"offset"`
	At     address `json:"at"`
	Bytes  int64   `json:"bytes,omitempty"`
	Value  *uint32 `json:"value,omitempty"` // the value that is awaited or written
}

// String is "read A of rank 1 + 4096, 512 bytes at 0x7f00".
func (u use) String() string {
	name := u.Name
	if name == "" {
		name = "memory"
	} else {
		name = fmt.Sprintf("%s of rank %d + %d", name, u.Rank, u.Offset)
	}
	text := fmt.Sprintf("%s %s at %s", u.Do, name, u.At)
	if u.Bytes > 0 {
		text = fmt.Sprintf("%s %s, %d bytes at %s", u.Do, name, u.Bytes, u.At)
	}
	if u.Value != nil {
		text += fmt.Sprintf(", value %d", *u.Value)
	}
	return text
}

// listing records the calls that a plan makes; the calls enqueue nothing.
type listing struct {
	plan    *plan.Plan
	parts   plan.Components
	regions plan.Regions
	streams map[driver.Stream]string
	list    []operation
}

// list issues a run to a listing in place of the driver.
func list(p *plan.Plan) ([]operation, error) {
	l := &listing{plan: p, parts: p.Components(), regions: p.Layout(), streams: p.Streams()}
	if err := p.List(around.New(p.Group().Driver(), l.each), l); err != nil {
		return nil, fmt.Errorf("list the calls of %s: %w", p, err)
	}
	return l.list, nil
}

// add lists an operation.
func (l *listing) add(s driver.Stream, call string, uses ...use) error {
	l.list = append(l.list, operation{Step: l.plan.Step(), Stream: l.streams[s], Call: call, Uses: uses})
	return nil
}

// use names memory.
func (l *listing) use(do string, at driver.Ptr, bytes int64) use {
	u := use{Do: do, Rank: l.plan.Rank(), At: address(at), Bytes: bytes}
	if r, ok := l.regions.Find(at); ok {
		u.Name, u.Rank, u.Offset = r.Name, r.Rank, int64(at-r.Base)
	}
	return u
}

// word names a word, with the value that is awaited or written.
func (l *listing) word(do string, at driver.Ptr, value uint32) use {
	u := l.use(do, at, 4)
	u.Value = &value
	return u
}

// each lists a call that enqueues.
func (l *listing) each(c *around.Call) error {
	switch c.Name {
	case "MemcpyDtoDAsync":
		return l.add(c.Stream, "copy", l.use("read", c.Copy.Src, c.Copy.Width),
			l.use("write", c.Copy.Dst, c.Copy.Width))
	case "Memcpy2DAsync":
		return l.rows(c.Stream, c.Copy)
	case "StreamBatchMemOp":
		return l.batch(c.Stream, c.Items)
	case "EventRecordWithFlags":
		return l.add(c.Stream, fmt.Sprintf("record event %d", slices.Index(l.parts.Events, c.Event)))
	case "StreamWaitEvent":
		return l.add(c.Stream, fmt.Sprintf("wait for event %d", slices.Index(l.parts.Events, c.Event)))
	case "LaunchKernel":
		return l.launch(c)
	case "Matmul":
		return l.product(c)
	}
	return c.Pass()
}

// rows lists a copy of rows: from the start of the first row to the end of the last.
func (l *listing) rows(s driver.Stream, c driver.Memcpy2D) error {
	reach := func(pitch int64) int64 { return (c.Height-1)*pitch + c.Width }
	return l.add(s, fmt.Sprintf("copy of %d rows of %d bytes, from %d to %d bytes apart", c.Height, c.Width, c.SrcPitch,
		c.DstPitch), l.use("read", c.Src, reach(c.SrcPitch)), l.use("write", c.Dst, reach(c.DstPitch)))
}

// batch lists waits and writes.
func (l *listing) batch(s driver.Stream, items []driver.MemOp) error {
	var uses []use
	for _, m := range items {
		do := "write"
		if m.Kind == driver.WaitEqual {
			do = "wait"
		}
		uses = append(uses, l.word(do, m.Address, m.Value))
	}
	return l.add(s, "batch", uses...)
}

// launch lists a kernel, with the memory in its parameters.
func (l *listing) launch(c *around.Call) error {
	i := slices.IndexFunc(l.parts.Kernels, func(k plan.KernelPart) bool { return k.Handle == c.Function })
	if i < 0 {
		return l.add(c.Stream, "kernel")
	}
	name := l.parts.Kernels[i].Name
	var uses []use
	for _, k := range l.plan.Program().Code.Kernels {
		if k.Name != name {
			continue
		}
		for _, at := range unsafe.Slice((*driver.Ptr)(c.Params), k.Params/8) {
			if _, known := l.regions.Find(at); known {
				uses = append(uses, l.use("take", at, 0))
			}
		}
	}
	return l.add(c.Stream, fmt.Sprintf("kernel %s, %d blocks of %d", name, c.Grid.X, c.Block.X), uses...)
}

// product lists a product.
func (l *listing) product(c *around.Call) error {
	i := slices.IndexFunc(l.parts.Products, func(p plan.ProductPart) bool { return p.Handle == c.Product })
	d := l.parts.Products[i].Desc
	rows, inner, columns, size := int64(d.M), int64(d.K), int64(d.N), d.Type.Size()
	x := c.Operands
	uses := []use{l.use("read", x.A, rows*inner*size), l.use("read", x.B, inner*columns*size)}
	if d.Bias {
		uses = append(uses, l.use("read", x.Bias, columns*size))
	}
	return l.add(c.Stream, "product "+product(d), append(uses, l.use("write", x.C, rows*columns*size),
		l.use("write", x.Workspace, driver.WorkspaceBytes))...)
}

// Collective lists a collective of NCCL.
func (l *listing) Collective(s driver.Stream, d driver.CollectiveDesc, ranks int, recv, send driver.Ptr) error {
	sends, receives := d.Sizes(ranks)
	return l.add(s, "NCCL "+string(d.Kind), l.use("read", send, sends), l.use("write", recv, receives))
}

// Function lists a function of the caller, and does not call it.
func (l *listing) Function(s driver.Stream, name string, to plan.Range, from []plan.Range) error {
	var uses []use
	for _, r := range from {
		uses = append(uses, l.use("read", r.At, r.Bytes))
	}
	if uses = append(uses, l.use("write", to.At, to.Bytes)); to.Rows > 0 {
		uses = append(uses, l.use("write", to.Scales, to.Rows*driver.FP32.Size()))
	}
	return l.add(s, "call "+name, uses...)
}
