package record

import (
	"errors"
	"fmt"
	"sync"

	"ovgen/runtime/driver"
	"ovgen/verify/ops"
	_ "ovgen/verify/tables" // the touches of generated packages
	"ovgen/verify/touch"
)

// Driver is one rank's device as far as the host can tell. Memory has addresses and no contents, so any amount of it
// costs nothing, and enqueued work is done at once. It implements every method of driver.Driver; each method that
// enqueues records its call.
type Driver struct {
	memory
	unmapped

	mu       sync.Mutex
	handles  uintptr // of streams, events, graphs, ... made so far
	products map[driver.Product]driver.MatmulDesc
	codes    map[driver.Module]*driver.Code
	kernels  map[driver.Function]described
	launches map[string]*launch // by kernel, geometry and parameters
	captured *graph             // the capture under way
	graphs   map[uintptr]*graph
	on       bool
	calls    []call // since Start
	comm     driver.Comm
	ranks    int // of the communicator
	each     int // ranks of a host, where the communicator is of a rail; else 0
}

// graph has the calls captured from a stream.
type graph struct {
	origin driver.Stream
	calls  []call
}

// described is a kernel with the function that lists its touches, or nil.
type described struct {
	driver.Kernel
	touches touch.Func
}

// call is a recorded call that enqueues work. Its addresses are resolved when the recording ends.
type call struct {
	stream driver.Stream
	kind   ops.Kind
	event  driver.Event // of Record and WaitEvent
	waits  bool         // it enqueues nothing: the host waits for the device
	// operations are the call's operations; nil for Record and WaitEvent.
	operations func(*Names, ops.Op) ([]ops.Op, error)
}

var _ driver.Driver = (*Driver)(nil)

// New makes the device of a rank.
func New(rank int) *Driver {
	return &Driver{memory: memory{rank: rank}, products: map[driver.Product]driver.MatmulDesc{},
		codes: map[driver.Module]*driver.Code{}, kernels: map[driver.Function]described{},
		launches: map[string]*launch{}, graphs: map[uintptr]*graph{}}
}

// Start begins a recording.
func (d *Driver) Start() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on, d.calls = true, nil
}

// Stop ends the recording and returns its operations in enqueue order; a launched graph is the operations captured into
// it. A wait for an event that was not recorded since Start is a wait for the end of the run before (After). A record
// of an event for which no stream waits is the end of this run (Done).
func (d *Driver) Stop(names Names) ([]ops.Op, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = false
	list, err := names.resolve(d.calls)
	if err != nil {
		return nil, fmt.Errorf("record a run: %w", err)
	}
	return list, nil
}

// take records a call, in the capture under way or else in the recording.
func (d *Driver) take(c call) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.captured != nil:
		d.captured.calls = append(d.captured.calls, c)
	case d.on:
		d.calls = append(d.calls, c)
	}
	return nil
}

// alien records a call that no host program makes.
func (d *Driver) alien(name string, s driver.Stream) error {
	return d.take(call{stream: s, operations: func(*Names, ops.Op) ([]ops.Op, error) {
		return nil, fmt.Errorf("%s is no operation of a host program", name)
	}})
}

// wait records that the host waits for the device.
func (d *Driver) wait() error { return d.take(call{waits: true}) }

// handle is a number that no other stream, event or handle of the device has.
func (d *Driver) handle() uintptr {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handles++
	return d.handles
}

// Name is "record".
func (d *Driver) Name() string { return "record" }

// Properties are a large device's.
func (d *Driver) Properties() driver.Properties {
	return driver.Properties{Ordinal: d.rank, Name: "recorder", UUID: driver.UUID{byte(d.rank + 1),
		byte((d.rank + 1) >> 8)},
		Multiprocessors: 132, Major: 9, Memory: int64(space), Version: 12040}
}

// Context is a number that no other rank has.
func (d *Driver) Context() uintptr { return uintptr(d.rank + 1) }

// DeviceCanAccessPeer is true.
func (d *Driver) DeviceCanAccessPeer(driver.UUID) (bool, error) { return true, nil }

// DeviceGetP2PAttribute reports a link that can do everything.
func (d *Driver) DeviceGetP2PAttribute(driver.P2PAttribute, driver.UUID) (int, error) { return 1, nil }

// DeviceGetNVLinks reports one connection to each peer.
func (d *Driver) DeviceGetNVLinks(driver.UUID) (driver.NVLinks, error) {
	return driver.NVLinks{Direct: 1}, nil
}

// CtxSynchronize has nothing to wait for.
func (d *Driver) CtxSynchronize() error { return d.wait() }

// Close does nothing.
func (d *Driver) Close() error { return nil }

// MemAlloc reserves addresses; in a run, the recording notes a call that no host program
// makes.
func (d *Driver) MemAlloc(bytes int64) (driver.Ptr, error) {
	at, err := d.memory.MemAlloc(bytes)
	return at, errors.Join(err, d.alien("MemAlloc", 0))
}

// MemFree frees addresses; in a run, the recording notes a call that no host program makes.
func (d *Driver) MemFree(p driver.Ptr) error {
	return errors.Join(d.memory.MemFree(p), d.alien("MemFree", 0))
}

// StreamCreateWithPriority makes a stream.
func (d *Driver) StreamCreateWithPriority(driver.Priority) (driver.Stream, error) {
	return driver.Stream(d.handle()), nil
}

// StreamDestroy does nothing.
func (d *Driver) StreamDestroy(driver.Stream) error { return nil }

// StreamSynchronize has nothing to wait for.
func (d *Driver) StreamSynchronize(driver.Stream) error { return d.wait() }

// StreamQuery is true.
func (d *Driver) StreamQuery(driver.Stream) (bool, error) { return true, nil }

// StreamIsCapturing reports whether a capture of that stream is under way.
func (d *Driver) StreamIsCapturing(s driver.Stream) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.captured != nil && d.captured.origin == s, nil
}

// EventCreate makes an event.
func (d *Driver) EventCreate(bool) (driver.Event, error) { return driver.Event(d.handle()), nil }

// EventDestroy does nothing.
func (d *Driver) EventDestroy(driver.Event) error { return nil }

// EventQuery is true.
func (d *Driver) EventQuery(driver.Event) (bool, error) { return true, nil }

// EventSynchronize has nothing to wait for.
func (d *Driver) EventSynchronize(driver.Event) error { return d.wait() }

// EventElapsedTime is zero.
func (d *Driver) EventElapsedTime(driver.Event, driver.Event) (float32, error) { return 0, nil }

// ModuleLoadData remembers the code.
func (d *Driver) ModuleLoadData(code *driver.Code) (driver.Module, error) {
	m := driver.Module(d.handle())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.codes[m] = code
	return m, nil
}

// ModuleGetFunction finds a kernel of the code.
func (d *Driver) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	f := driver.Function(d.handle())
	d.mu.Lock()
	defer d.mu.Unlock()
	if code := d.codes[m]; code != nil {
		for _, k := range code.Kernels {
			if k.Name == name {
				touches, err := touch.Of(&k)
				d.kernels[f] = described{k, touches}
				return f, errors.Join(err, touch.Awaits(code, &k))
			}
		}
	}
	return 0, fmt.Errorf("get function %s: the module does not hold it", name)
}

// OccupancyMaxActiveBlocksPerMultiprocessor is the number of blocks for which there are threads: a launch is recorded,
// and not run.
func (d *Driver) OccupancyMaxActiveBlocksPerMultiprocessor(_ driver.Function, block, _ int) (int, error) {
	return 2 * threads / block, nil
}

// TensorMapEncodeTiled is the tensor's address.
func (d *Driver) TensorMapEncodeTiled(to *driver.TensorMap, x driver.TensorMapDesc) error {
	*to = driver.TensorMap{uint64(x.At)}
	return nil
}

// ModuleUnload does nothing.
func (d *Driver) ModuleUnload(driver.Module) error { return nil }

// MatmulCreate remembers the product's description.
func (d *Driver) MatmulCreate(desc driver.MatmulDesc) (driver.Product, error) {
	p := driver.Product(d.handle())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.products[p] = desc
	return p, nil
}

// MatmulBy remembers the product's description as well.
func (d *Driver) MatmulBy(desc driver.MatmulDesc, _ string) (driver.Product, error) {
	return d.MatmulCreate(desc)
}

// MatmulDestroy does nothing.
func (d *Driver) MatmulDestroy(driver.Product) error { return nil }

// MatmulAlgorithm is none: products are not computed.
func (d *Driver) MatmulAlgorithm(driver.Product) string { return "none" }

// StreamBeginCapture starts a capture. All later calls belong to it.
func (d *Driver) StreamBeginCapture(s driver.Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.captured != nil {
		return errors.New("begin a capture: one is under way")
	}
	d.captured = &graph{origin: s}
	return nil
}

// StreamEndCapture ends the capture.
func (d *Driver) StreamEndCapture(s driver.Stream) (driver.Graph, error) {
	h := d.handle()
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.captured
	if g == nil || g.origin != s {
		return 0, errors.New("end a capture: none of that stream is under way")
	}
	d.captured, d.graphs[h] = nil, g
	return driver.Graph(h), nil
}

// GraphInstantiate makes a graph that can be launched.
func (d *Driver) GraphInstantiate(g driver.Graph) (driver.GraphExec, error) {
	h := d.handle()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.graphs[h] = d.graphs[uintptr(g)]
	return driver.GraphExec(h), nil
}

// GraphUpload does nothing.
func (d *Driver) GraphUpload(driver.GraphExec, driver.Stream) error { return nil }

// GraphExecDestroy does nothing.
func (d *Driver) GraphExecDestroy(driver.GraphExec) error { return nil }

// GraphDestroy does nothing.
func (d *Driver) GraphDestroy(driver.Graph) error { return nil }
