package plan

import (
	"fmt"
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
)

// operation is a call that enqueues a part of a run.
type operation struct {
	Step   int    `json:"step"` // of the host program that makes it
	Stream string `json:"stream"`
	Call   string `json:"call"` // "copy", "record event 2", "kernel shot_bf16, 32 blocks of 512"
	Uses   []use  `json:"uses,omitempty"`
}

// use is a piece of memory of an operation. Name is that of the buffer, the semaphore or the stream's word; of what has
// none it is empty.
type use struct {
	Do     string  `json:"do"` // read, write, wait or post
	Name   string  `json:"name,omitempty"`
	Rank   int     `json:"rank"` // whose memory it is
	Offset int64   `json:"offset"`
	At     address `json:"at"`
	Bytes  int64   `json:"bytes"`
	Value  *uint32 `json:"value,omitempty"` // that is awaited or written
}

// String is "read A of rank 1 + 4096, 512 bytes at 0x7f00".
func (u use) String() string {
	name := u.Name
	if name == "" {
		name = "memory"
	} else {
		name = fmt.Sprintf("%s of rank %d + %d", name, u.Rank, u.Offset)
	}
	text := fmt.Sprintf("%s %s, %d bytes at %s", u.Do, name, u.Bytes, u.At)
	if u.Value != nil {
		text += fmt.Sprintf(", value %d", *u.Value)
	}
	return text
}

// listing is a plan's driver while its calls are listed: a call that enqueues does nothing.
type listing struct {
	driver.Driver
	plan    *Plan
	regions []Region
	streams map[driver.Stream]string
	list    []operation
}

// list issues a run by the listing in the driver's place.
func (p *Plan) list() ([]operation, error) {
	l := &listing{Driver: p.driver, plan: p, regions: p.Layout(), streams: p.Streams()}
	p.driver, p.queue.listing = l, l
	p.queue.start(p.main.own)
	p.issue(&p.queue)
	p.driver, p.queue.listing = l.Driver, nil
	if p.queue.err != nil {
		return nil, fmt.Errorf("list the calls of %s: %w", p, p.queue.err)
	}
	return l.list, nil
}

// add lists an operation.
func (l *listing) add(s driver.Stream, call string, uses ...use) error {
	l.list = append(l.list, operation{Step: l.plan.queue.step, Stream: l.streams[s], Call: call, Uses: uses})
	return nil
}

// use names memory.
func (l *listing) use(do string, at driver.Ptr, bytes int64) use {
	u := use{Do: do, Rank: l.plan.rank, At: address(at), Bytes: bytes}
	for _, r := range l.regions {
		if at >= r.Base && at < r.Base+driver.Ptr(r.Bytes) {
			u.Name, u.Rank, u.Offset = r.Name, r.Rank, int64(at-r.Base)
		}
	}
	return u
}

// word names a word with what it is awaited for or set to.
func (l *listing) word(do string, at driver.Ptr, value uint32) use {
	u := l.use(do, at, 4)
	u.Value = &value
	return u
}

// MemcpyDtoDAsync lists a copy.
func (l *listing) MemcpyDtoDAsync(dst, src driver.Ptr, bytes int64, s driver.Stream) error {
	return l.add(s, "copy", l.use("read", src, bytes), l.use("write", dst, bytes))
}

// Memcpy2DAsync lists a copy of rows: where the first begins, up to where the last ends.
func (l *listing) Memcpy2DAsync(c driver.Memcpy2D, s driver.Stream) error {
	reach := func(pitch int64) int64 { return (c.Height-1)*pitch + c.Width }
	return l.add(s, fmt.Sprintf("copy of %d rows of %d bytes, from %d to %d bytes apart", c.Height, c.Width, c.SrcPitch,
		c.DstPitch), l.use("read", c.Src, reach(c.SrcPitch)), l.use("write", c.Dst, reach(c.DstPitch)))
}

// StreamBatchMemOp lists waits and writes.
func (l *listing) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
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

// EventRecordWithFlags lists the record of one of the plan's events.
func (l *listing) EventRecordWithFlags(e driver.Event, s driver.Stream, _ driver.EventFlags) error {
	return l.add(s, fmt.Sprintf("record event %d", slices.Index(l.plan.events, e)))
}

// StreamWaitEvent lists the wait for one.
func (l *listing) StreamWaitEvent(s driver.Stream, e driver.Event, _ driver.EventFlags) error {
	return l.add(s, fmt.Sprintf("wait for event %d", slices.Index(l.plan.events, e)))
}

// kinds of a kernel's uses.
var kinds = map[driver.TouchKind]string{driver.TouchRead: "read", driver.TouchWrite: "write", driver.TouchWait: "wait",
	driver.TouchPost: "post"}

// LaunchKernel lists a launch, with what the kernel's table says that it touches.
func (l *listing) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream,
	params unsafe.Pointer) error {
	i := slices.IndexFunc(l.plan.kernels, func(k *Kernel) bool { return k.handle == f })
	if i < 0 {
		return l.add(s, "kernel")
	}
	name := l.plan.kernels[i].name
	var uses []use
	for _, k := range l.plan.program.Code.Kernels {
		if k.Name != name || k.Touches == nil {
			continue
		}
		for _, t := range k.Touches(params, nil) {
			if t.At == 0 {
				continue
			}
			u := l.use(kinds[t.Kind], t.At, max(t.Bytes, 4))
			if t.Kind == driver.TouchWait || t.Kind == driver.TouchPost {
				u = l.word(kinds[t.Kind], t.At, t.Value)
			}
			uses = append(uses, u)
		}
	}
	return l.add(s, fmt.Sprintf("kernel %s, %d blocks of %d", name, grid.X, block.X), uses...)
}

// Matmul lists a product.
func (l *listing) Matmul(m driver.Product, c, a, b, bias, workspace driver.Ptr, s driver.Stream) error {
	i := slices.IndexFunc(l.plan.products, func(p *Product) bool { return p.handle == m })
	p := l.plan.products[i]
	rows, inner, columns, size := int64(p.desc.M), int64(p.desc.K), int64(p.desc.N), p.desc.Type.Size()
	uses := []use{l.use("read", a, rows*inner*size), l.use("read", b, inner*columns*size)}
	if p.desc.Bias {
		uses = append(uses, l.use("read", bias, columns*size))
	}
	return l.add(s, "product "+p.String(), append(uses, l.use("write", c, rows*columns*size),
		l.use("write", workspace, driver.WorkspaceBytes))...)
}

// collective lists one of NCCL's.
func (l *listing) collective(d driver.CollectiveDesc, recv, send driver.Ptr, s driver.Stream) error {
	sends, receives := d.Sizes(1 + len(l.plan.rail(EveryPeer)))
	return l.add(s, "NCCL "+string(d.Kind), l.use("read", send, sends), l.use("write", recv, receives))
}

// call lists a function of the caller's, which is not called.
func (l *listing) call(s driver.Stream, name string, to Range, from []Range) error {
	var uses []use
	for _, r := range from {
		uses = append(uses, l.use("read", r.At, r.Bytes))
	}
	return l.add(s, "call "+name, append(uses, l.use("write", to.At, to.Bytes))...)
}
