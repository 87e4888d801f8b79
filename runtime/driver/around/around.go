package around

import (
	"unsafe"

	"ovgen/runtime/driver"
)

// Call is a call on its way to a driver. Only the fields of its method are set.
type Call struct {
	Name   string // the method of driver.Driver or driver.Collectives
	Stream driver.Stream
	// Enqueues is set for operations: a copy, a batch, a product, a launch, a collective.
	Enqueues bool
	Event    driver.Event
	Copy     driver.Memcpy2D // of MemcpyDtoDAsync too: one row
	Items    []driver.MemOp
	// Function, Grid, Block and Params of a launch.
	Function    driver.Function
	Grid, Block driver.Dim3
	Params      unsafe.Pointer
	// Product and Operands of Matmul.
	Product  driver.Product
	Operands driver.Operands
	// Collective combines the ranks' Send into Recv.
	Collective driver.CollectiveDesc
	Recv, Send driver.Ptr
	Comm       driver.Comm

	pass func() error
}

// Pass makes the call.
func (c *Call) Pass() error { return c.pass() }

// New is a driver that calls each in place of each call of d that allocates, shares, makes or enqueues something. each
// may change Items. It makes the call by Pass or returns an error; if it does neither, the call has made nothing.
func New(d driver.Driver, each func(*Call) error) driver.Driver {
	return around{driver.Decorator{Driver: d}, each}
}

type around struct {
	driver.Decorator
	each func(*Call) error
}

// result passes a call that returns a result through each.
func result[T any](each func(*Call) error, name string, make func() (T, error)) (made T, err error) {
	c := Call{Name: name}
	c.pass = func() (err error) {
		made, err = make()
		return err
	}
	err = each(&c)
	return made, err
}

// enqueue passes an operation through each.
func (a around) enqueue(c Call, pass func(*Call) error) error {
	c.Enqueues = true
	return a.mark(c, pass)
}

// mark passes a call that enqueues no operation through each.
func (a around) mark(c Call, pass func(*Call) error) error {
	c.pass = func() error { return pass(&c) }
	return a.each(&c)
}

// MemAlloc passes.
func (a around) MemAlloc(n int64) (driver.Ptr, error) {
	return result(a.each, "MemAlloc", func() (driver.Ptr, error) { return a.Driver.MemAlloc(n) })
}

// IpcGetMemHandle passes.
func (a around) IpcGetMemHandle(p driver.Ptr) (driver.IpcMemHandle, error) {
	return result(a.each, "IpcGetMemHandle", func() (driver.IpcMemHandle, error) { return a.Driver.IpcGetMemHandle(p) })
}

// IpcOpenMemHandle passes.
func (a around) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	return result(a.each, "IpcOpenMemHandle", func() (driver.Ptr, error) { return a.Driver.IpcOpenMemHandle(h) })
}

// StreamCreateWithPriority passes.
func (a around) StreamCreateWithPriority(p driver.Priority) (driver.Stream, error) {
	return result(a.each, "StreamCreateWithPriority",
		func() (driver.Stream, error) { return a.Driver.StreamCreateWithPriority(p) })
}

// EventCreate passes.
func (a around) EventCreate(timing bool) (driver.Event, error) {
	return result(a.each, "EventCreate", func() (driver.Event, error) { return a.Driver.EventCreate(timing) })
}

// ModuleLoadData passes.
func (a around) ModuleLoadData(c *driver.Code) (driver.Module, error) {
	return result(a.each, "ModuleLoadData", func() (driver.Module, error) { return a.Driver.ModuleLoadData(c) })
}

// MatmulCreate passes.
func (a around) MatmulCreate(d driver.MatmulDesc) (driver.Product, error) {
	return result(a.each, "MatmulCreate", func() (driver.Product, error) { return a.Driver.MatmulCreate(d) })
}

// MatmulBy passes.
func (a around) MatmulBy(d driver.MatmulDesc, by string) (driver.Product, error) {
	return result(a.each, "MatmulBy", func() (driver.Product, error) { return a.Driver.MatmulBy(d, by) })
}

// GraphInstantiate passes.
func (a around) GraphInstantiate(g driver.Graph) (driver.GraphExec, error) {
	return result(a.each, "GraphInstantiate", func() (driver.GraphExec, error) { return a.Driver.GraphInstantiate(g) })
}

// EventRecordWithFlags passes.
func (a around) EventRecordWithFlags(e driver.Event, s driver.Stream, flags driver.EventFlags) error {
	return a.mark(Call{Name: "EventRecordWithFlags", Stream: s, Event: e},
		func(*Call) error { return a.Driver.EventRecordWithFlags(e, s, flags) })
}

// StreamWaitEvent passes.
func (a around) StreamWaitEvent(s driver.Stream, e driver.Event, flags driver.EventFlags) error {
	return a.mark(Call{Name: "StreamWaitEvent", Stream: s, Event: e},
		func(*Call) error { return a.Driver.StreamWaitEvent(s, e, flags) })
}

// GraphLaunch passes.
func (a around) GraphLaunch(g driver.GraphExec, s driver.Stream) error {
	return a.enqueue(Call{Name: "GraphLaunch", Stream: s}, func(*Call) error { return a.Driver.GraphLaunch(g, s) })
}

// MemcpyDtoDAsync passes.
func (a around) MemcpyDtoDAsync(dst, src driver.Ptr, n int64, s driver.Stream) error {
	row := driver.Memcpy2D{Dst: dst, DstPitch: n, Src: src, SrcPitch: n, Width: n, Height: 1}
	return a.enqueue(Call{Name: "MemcpyDtoDAsync", Stream: s, Copy: row},
		func(*Call) error { return a.Driver.MemcpyDtoDAsync(dst, src, n, s) })
}

// Memcpy2DAsync passes.
func (a around) Memcpy2DAsync(c driver.Memcpy2D, s driver.Stream) error {
	return a.enqueue(Call{Name: "Memcpy2DAsync", Stream: s, Copy: c},
		func(*Call) error { return a.Driver.Memcpy2DAsync(c, s) })
}

// StreamBatchMemOp passes.
func (a around) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	return a.enqueue(Call{Name: "StreamBatchMemOp", Stream: s, Items: items},
		func(c *Call) error { return a.Driver.StreamBatchMemOp(s, c.Items) })
}

// Matmul passes.
func (a around) Matmul(m driver.Product, x driver.Operands, s driver.Stream) error {
	return a.enqueue(Call{Name: "Matmul", Stream: s, Product: m, Operands: x},
		func(*Call) error { return a.Driver.Matmul(m, x, s) })
}

// LaunchKernel passes.
func (a around) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream, params unsafe.Pointer) error {
	return a.enqueue(Call{Name: "LaunchKernel", Stream: s, Function: f, Grid: grid, Block: block, Params: params},
		func(*Call) error { return a.Driver.LaunchKernel(f, grid, block, s, params) })
}

// Collectives are the driver's collectives, whose calls pass through each too.
func (a around) Collectives() (driver.Collectives, error) {
	c, err := driver.CollectivesOf(a.Driver)
	if err != nil {
		return nil, err
	}
	return aroundAll{c, a}, nil
}

type aroundAll struct {
	driver.Collectives
	of around
}

// CommInitRank passes.
func (a aroundAll) CommInitRank(id driver.CommID, ranks, rank int) (driver.Comm, error) {
	return result(a.of.each, "CommInitRank",
		func() (driver.Comm, error) { return a.Collectives.CommInitRank(id, ranks, rank) })
}

// Collective passes.
func (a aroundAll) Collective(d driver.CollectiveDesc, recv, send driver.Ptr, comm driver.Comm, s driver.Stream) error {
	return a.of.enqueue(Call{Name: "Collective", Stream: s, Collective: d, Recv: recv, Send: send, Comm: comm},
		func(*Call) error { return a.Collectives.Collective(d, recv, send, comm, s) })
}
