package inject

import (
	"unsafe"

	"ovgen/runtime/driver"
)

// Call is a driver call that is about to be made.
type Call struct {
	Name   string        // the Driver method
	Stream driver.Stream // that it enqueues on; Enqueues says whether it does
	// Enqueues is set for operations: a copy, a batch, a product, a launch, a collective.
	Enqueues bool
	// Exchanges is the bytes that an exchange sends, and as many that it gets; 0 for other calls.
	Exchanges int64
}

// Filter is a Driver that tells of its calls. Set its fields before the calls
// that they are to see; they are read without a lock.
type Filter struct {
	driver.Driver
	// Before sees each call; an error is the call's, which is then not made.
	Before func(Call) error
	// Without leaves the writes out of batches whose address it holds for.
	Without func(driver.Ptr) bool

	items []driver.MemOp
}

// New makes a Filter that changes nothing.
func New(d driver.Driver) *Filter { return &Filter{Driver: d} }

// Captures are the driver's, whose calls Before does not see.
func (f *Filter) Captures() (driver.Captures, bool) { return driver.CapturesOf(f.Driver) }

func (f *Filter) before(name string) error {
	if f.Before == nil {
		return nil
	}
	return f.Before(Call{Name: name})
}

func (f *Filter) enqueue(name string, s driver.Stream) error {
	if f.Before == nil {
		return nil
	}
	return f.Before(Call{Name: name, Stream: s, Enqueues: true})
}

// MemAlloc is the driver's, if Before allows.
func (f *Filter) MemAlloc(n int64) (driver.Ptr, error) {
	if err := f.before("MemAlloc"); err != nil {
		return 0, err
	}
	return f.Driver.MemAlloc(n)
}

// IpcGetMemHandle is the driver's, if Before allows.
func (f *Filter) IpcGetMemHandle(p driver.Ptr) (driver.IpcMemHandle, error) {
	if err := f.before("IpcGetMemHandle"); err != nil {
		return driver.IpcMemHandle{}, err
	}
	return f.Driver.IpcGetMemHandle(p)
}

// IpcOpenMemHandle is the driver's, if Before allows.
func (f *Filter) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	if err := f.before("IpcOpenMemHandle"); err != nil {
		return 0, err
	}
	return f.Driver.IpcOpenMemHandle(h)
}

// StreamCreateWithPriority is the driver's, if Before allows.
func (f *Filter) StreamCreateWithPriority(p driver.Priority) (driver.Stream, error) {
	if err := f.before("StreamCreateWithPriority"); err != nil {
		return 0, err
	}
	return f.Driver.StreamCreateWithPriority(p)
}

// EventCreate is the driver's, if Before allows.
func (f *Filter) EventCreate(timing bool) (driver.Event, error) {
	if err := f.before("EventCreate"); err != nil {
		return 0, err
	}
	return f.Driver.EventCreate(timing)
}

// EventRecordWithFlags is the driver's, if Before allows.
func (f *Filter) EventRecordWithFlags(e driver.Event, s driver.Stream, flags driver.EventFlags) error {
	if err := f.before("EventRecordWithFlags"); err != nil {
		return err
	}
	return f.Driver.EventRecordWithFlags(e, s, flags)
}

// StreamWaitEvent is the driver's, if Before allows.
func (f *Filter) StreamWaitEvent(s driver.Stream, e driver.Event, flags driver.EventFlags) error {
	if err := f.before("StreamWaitEvent"); err != nil {
		return err
	}
	return f.Driver.StreamWaitEvent(s, e, flags)
}

// ModuleLoadData is the driver's, if Before allows.
func (f *Filter) ModuleLoadData(c *driver.Code) (driver.Module, error) {
	if err := f.before("ModuleLoadData"); err != nil {
		return 0, err
	}
	return f.Driver.ModuleLoadData(c)
}

// MatmulCreate is the driver's, if Before allows.
func (f *Filter) MatmulCreate(d driver.MatmulDesc) (driver.Product, error) {
	if err := f.before("MatmulCreate"); err != nil {
		return 0, err
	}
	return f.Driver.MatmulCreate(d)
}

// GraphInstantiate is the driver's, if Before allows.
func (f *Filter) GraphInstantiate(g driver.Graph) (driver.GraphExec, error) {
	if err := f.before("GraphInstantiate"); err != nil {
		return 0, err
	}
	return f.Driver.GraphInstantiate(g)
}

// GraphLaunch is the driver's, if Before allows.
func (f *Filter) GraphLaunch(g driver.GraphExec, s driver.Stream) error {
	if err := f.enqueue("GraphLaunch", s); err != nil {
		return err
	}
	return f.Driver.GraphLaunch(g, s)
}

// MemcpyDtoDAsync is the driver's, if Before allows.
func (f *Filter) MemcpyDtoDAsync(dst, src driver.Ptr, n int64, s driver.Stream) error {
	if err := f.enqueue("MemcpyDtoDAsync", s); err != nil {
		return err
	}
	return f.Driver.MemcpyDtoDAsync(dst, src, n, s)
}

// Memcpy2DAsync is the driver's, if Before allows.
func (f *Filter) Memcpy2DAsync(c driver.Memcpy2D, s driver.Stream) error {
	if err := f.enqueue("Memcpy2DAsync", s); err != nil {
		return err
	}
	return f.Driver.Memcpy2DAsync(c, s)
}

// StreamBatchMemOp is the driver's, if Before allows, without the items that Without names.
func (f *Filter) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	if err := f.enqueue("StreamBatchMemOp", s); err != nil {
		return err
	}
	if f.Without != nil {
		f.items = f.items[:0]
		for _, it := range items {
			if it.Kind != driver.Write || !f.Without(it.Address) {
				f.items = append(f.items, it)
			}
		}
		items = f.items
	}
	return f.Driver.StreamBatchMemOp(s, items)
}

// Matmul is the driver's, if Before allows.
func (f *Filter) Matmul(m driver.Product, c, a, b, bias, workspace driver.Ptr, s driver.Stream) error {
	if err := f.enqueue("Matmul", s); err != nil {
		return err
	}
	return f.Driver.Matmul(m, c, a, b, bias, workspace, s)
}

// LaunchKernel is the driver's, if Before allows.
func (f *Filter) LaunchKernel(k driver.Function, grid, block driver.Dim3, s driver.Stream,
	params unsafe.Pointer) error {
	if err := f.enqueue("LaunchKernel", s); err != nil {
		return err
	}
	return f.Driver.LaunchKernel(k, grid, block, s, params)
}
