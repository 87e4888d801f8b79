package sim

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/touch"
)

// module is a loaded Code with its host kernels by name.
type module struct {
	code    *driver.Code
	kernels map[string]*hostKernel
}

// function is one kernel.
type function struct {
	name    string
	module  *module
	kernel  *hostKernel
	params  int
	cluster int // blocks come in clusters of this size
	atOnce  bool
	touches touch.Func
}

// kernelRun is a launch that has begun.
type kernelRun struct {
	launch  unsafe.Pointer
	waiting bool
	word    driver.Ptr // for which its first waiting thread waits
	value   uint32
	seen    uint64 // World.words when it was resumed last
	touches []touch.Touch
	// counted is, for each block that the touches name, the index of its first touch that the race detector has not
	// taken in. The detector treats the blocks of a launch as one strand.
	counted []int
	where   uint64
	want    uint32
}

// ModuleLoadData takes the kernels of a package from the package's table. It refuses PTX of another source than the
// package's, although it does not run PTX.
func (c *Context) ModuleLoadData(code *driver.Code) (driver.Module, error) {
	const call = "cuModuleLoadData"
	if err := c.enterIdle(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if code == nil {
		return 0, fail(call, invalidValue)
	}
	if err := code.Check(); err != nil && !errors.Is(err, driver.ErrNoPTX) {
		return 0, fmt.Errorf("load kernels of %s: %w", code.Name, err)
	}
	if err := kernelsRun(); err != nil {
		return 0, fmt.Errorf("%s: %w", call, err)
	}
	table := compiled(code)
	if table == nil {
		return 0, fmt.Errorf("load kernels of %s: they are not compiled for the host (import package host, which lies "+
			"beside it): %w", code.Name, fail(call, noBinary))
	}
	m := &module{code: code, kernels: hostKernels(table)}
	h := driver.Module(c.world.handle())
	c.modules[h] = m
	return h, nil
}

// ModuleGetFunction finds a kernel that both the table and the Code name.
func (c *Context) ModuleGetFunction(h driver.Module, name string) (driver.Function, error) {
	const call = "cuModuleGetFunction"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	m := c.modules[h]
	if m == nil {
		return 0, fail(call, invalidHandle)
	}
	for i := range m.code.Kernels {
		k := &m.code.Kernels[i]
		if k.Name != name || m.kernels[name] == nil {
			continue
		}
		if n := m.kernels[name].bytes(); n != k.Params {
			return 0, fmt.Errorf("%s: kernel %s takes %d bytes of parameters, and %s says %d", call, name, n,
				m.code.Name, k.Params)
		}
		touches, err := touch.Of(k)
		if err = errors.Join(err, touch.Awaits(m.code, k)); err != nil {
			return 0, fmt.Errorf("%s: %w", call, err)
		}
		f := driver.Function(c.world.handle())
		c.functions[f] = &function{name: name, module: m, kernel: m.kernels[name], params: k.Params,
			cluster: k.Cluster, atOnce: k.AtOnce, touches: touches}
		return f, nil
	}
	return 0, fail(call, notFound)
}

// ModuleUnload forgets a module and its functions.
func (c *Context) ModuleUnload(h driver.Module) error {
	const call = "cuModuleUnload"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	m := c.modules[h]
	if m == nil {
		return fail(call, invalidHandle)
	}
	for k, f := range c.functions {
		if f.module == m {
			delete(c.functions, k)
		}
	}
	delete(c.modules, h)
	return nil
}

// LaunchKernel enqueues a kernel; params are copied.
func (c *Context) LaunchKernel(h driver.Function, grid, block driver.Dim3, s driver.Stream,
	params unsafe.Pointer) error {
	const call = "cuLaunchKernel"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	f := c.functions[h]
	if f == nil {
		return fail(call, invalidHandle)
	}
	threads := uint64(block.X) * uint64(block.Y) * uint64(block.Z)
	if grid.X == 0 || grid.Y == 0 || grid.Z == 0 || grid.X > 1<<31-1 || grid.Y > 65535 || grid.Z > 65535 ||
		threads == 0 || threads > 1024 || block.Z > 64 || f.params > 0 && params == nil ||
		int(grid.X)%max(f.cluster, 1) != 0 {
		return fail(call, invalidValue)
	}
	c.params = append(c.params[:0], make([]uint64, (f.params+7)/8)...)
	if f.params > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&c.params[0])), f.params), unsafe.Slice((*byte)(params), f.params))
	}
	_, err := c.enqueue(call, s, &task{
		kind: launchKernel, function: f, params: c.params,
		grid: [3]uint32{grid.X, grid.Y, grid.Z}, block: [3]uint32{block.X, block.Y, block.Z},
	}, 1)
	return err
}

// The resources of a multiprocessor that its blocks share. Each block takes blockShared bytes of shared memory beyond
// its request.
const (
	mostBlocks  = 32
	mostThreads = 2048
	mostShared  = 228 << 10
	blockShared = 1 << 10
)

// OccupancyMaxActiveBlocksPerMultiprocessor is the occupancy of an H200, for kernels that are not short of registers.
func (c *Context) OccupancyMaxActiveBlocksPerMultiprocessor(h driver.Function, threads, shared int) (int, error) {
	const call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	switch {
	case c.functions[h] == nil:
		return 0, fail(call, invalidHandle)
	case threads < 1 || shared < 0:
		return 0, fail(call, invalidValue)
	case threads > 1024:
		return 0, nil
	}
	const warp = 32
	return min(mostBlocks, mostThreads/((threads+warp-1)/warp*warp), mostShared/(shared+blockShared)), nil
}

// TensorMapEncodeTiled refuses all descriptions that CUDA refuses. A map begins with the tensor's address, which
// kernels for the host read there.
func (c *Context) TensorMapEncodeTiled(to *driver.TensorMap, d driver.TensorMapDesc) error {
	const call = "cuTensorMapEncodeTiled"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	if !d.Valid() {
		return fail(call, invalidValue)
	}
	*to = driver.TensorMap{uint64(d.At)}
	return nil
}

// beginKernel starts a launch once all memory that it declares is mapped.
func (w *World) beginKernel(o *op) {
	r := &o.running
	*r = kernelRun{touches: r.touches[:0], counted: r.counted[:0]}
	var params unsafe.Pointer
	if len(o.params) > 0 {
		params = unsafe.Pointer(&o.params[0])
	}
	if o.function.touches != nil {
		r.touches = o.function.touches(params, r.touches)
	}
	for i := range r.touches {
		t := &r.touches[i]
		for len(r.counted) <= t.Block {
			r.counted = append(r.counted, i)
		}
		if t.Turn != 0 && !w.turn(o, t) {
			return
		}
		n := t.Bytes + int64(max(t.Rows-1, 0))*t.Apart
		if t.At != 0 && (t.Kind == touch.Wait || t.Kind == touch.Post) {
			n = 4
		}
		if n != 0 && o.ctx.bytes(t.At, n) == nil { // the address of no bytes is not checked
			w.fault(o, "%d bytes at %#x", n, uint64(t.At))
			return
		}
	}
	r.launch = o.function.kernel.start(params, &o.grid, &o.block, w.random.Uint64(), o.function.atOnce)
	r.seen = w.words - 1
}

// turn moves a touch to the half that its launch uses, and widens a touch of packets to whole units of packets there.
func (w *World) turn(o *op, t *touch.Touch) bool {
	word := o.ctx.word(t.Turn)
	if word == nil {
		w.fault(o, "4 bytes at %#x", uint64(t.Turn))
		return false
	}
	if atomic.LoadUint32(word) != 0 {
		t.At += driver.Ptr(t.Half)
	}
	if t.Packets && !t.Flag {
		const unit = 16
		t.Bytes = (t.Bytes + unit - 1) / unit * unit
	}
	return true
}

// kernelReady reports whether a launch may get further than at its last resume.
func (w *World) kernelReady(o *op) bool {
	r := &o.running
	return !r.waiting || w.posted(o, r.word) || r.seen != w.words
}

// Results of resuming a launch.
const (
	finished = iota
	waits    // all its threads wait
	paused   // after a write to a word
	failed   // a call went outside one of its tensors
)

// resumeKernel runs a launch until it is finished, until all its threads wait, or until it pauses, so that others see a
// word before the launch goes on.
func (w *World) resumeKernel(o *op) bool {
	r := &o.running
	posted, sent := w.posts(o), o.function.kernel.sent(r.launch)
	r.seen = w.words
	state := o.function.kernel.resume(r.launch, &r.where, &r.want)
	if w.posts(o) != posted || o.function.kernel.sent(r.launch) != sent {
		w.words++
	}
	r.waiting = state == waits
	switch state {
	case finished:
		w.countAll(o)
		w.words++
	case waits:
		r.word, r.value = driver.Ptr(r.where), r.want
		if !r.awaits(r.word) {
			break // a word within the launch: its other blocks go on
		}
		if at := r.next(touch.Wait, r.word); at < len(r.touches) {
			w.count(o, at)
		} else {
			w.countAll(o)
		}
	case failed:
		w.fault(o, "%s", o.function.kernel.fault(r.launch))
		return true
	case paused:
		if at := r.next(touch.Post, driver.Ptr(r.where)); at < len(r.touches) {
			w.count(o, at)
			w.countOne(o, at)
		}
	}
	return state == finished
}

// awaits reports whether the launch awaits other launches at that word.
func (r *kernelRun) awaits(at driver.Ptr) bool {
	return slices.ContainsFunc(r.touches, func(t touch.Touch) bool { return t.Kind == touch.Wait && t.At == at })
}

// next is the first touch of a kind and address that has not been taken in, or the number of touches if there is none.
func (r *kernelRun) next(kind touch.Kind, at driver.Ptr) int {
	for i, t := range r.touches {
		if i >= r.counted[t.Block] && t.Kind == kind && t.At == at && at != 0 {
			return i
		}
	}
	return len(r.touches)
}

// posts is a hash of the words that a kernel posts: it changes when the kernel writes one.
func (w *World) posts(o *op) (sum uint64) {
	for _, t := range o.running.touches {
		if t.Kind != touch.Post || t.At == 0 {
			continue
		}
		if p := o.ctx.word(t.At); p != nil {
			sum = sum*0x9e3779b97f4a7c15 + uint64(atomic.LoadUint32(p)) + 1
		}
	}
	return sum
}

// count takes in the touches of a block before the touch with that index, in their declared order.
func (w *World) count(o *op, until int) {
	r := &o.running
	for r.counted[r.touches[until].Block] < until {
		w.countOne(o, r.counted[r.touches[until].Block])
	}
}

// countAll takes in the rest of the touches of every block.
func (w *World) countAll(o *op) {
	r := &o.running
	for i, t := range r.touches {
		if i >= r.counted[t.Block] {
			w.countOne(o, i)
		}
	}
}

// countOne takes in the next touch of a block.
func (w *World) countOne(o *op, i int) {
	t := &o.running.touches[i]
	o.running.counted[t.Block] = i + 1
	if t.At == 0 {
		return
	}
	whole := accessKind(0) // a reset of a flag races with the post that it may wipe out
	if t.Packets && !t.Flag {
		whole = accessWord
	}
	switch t.Kind {
	case touch.Read:
		t.Each(func(at driver.Ptr, bytes int64) { w.access(o, at, bytes, whole) })
	case touch.Write:
		t.Each(func(at driver.Ptr, bytes int64) { w.access(o, at, bytes, accessWrite|whole) })
	case touch.Wait:
		w.acquire(o, t.At)
	case touch.Post:
		w.release(o, t.At, t.Value, 0)
	}
}

// endKernel destroys a launch.
func (w *World) endKernel(o *op) {
	if o.running.launch != nil {
		o.function.kernel.destroy(o.running.launch)
		o.running.launch = nil
	}
}
