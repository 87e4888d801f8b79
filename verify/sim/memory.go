package sim

import (
	"os"
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// block is a piece of device memory, wherever it is mapped.
type block struct {
	id     uint64 // among all processes
	owner  int    // device
	number int    // allocation of its owner
	bytes  int64
	filled []bool // for each chunk of memory that is filled at its first use; nil: all chunks are filled
	shadow shadow
}

// mapping is a block at the addresses of one context.
type mapping struct {
	base     driver.Ptr
	bytes    int64
	mem      []byte
	block    *block // nil for host memory
	fd       int    // of the owner, -1 for others
	kind     origin
	bufferID uint64
	opens    int // of an import
	handle   driver.IpcMemHandle
	// For memory that MemMap has mapped: the allocation, the reservation, and the devices that have access.
	of     *physical
	in     *reservation
	access []int
}

// origin says how memory was made.
type origin int

const (
	allocated origin = iota
	pooled           // by cuMemAllocAsync
	imported         // by cuIpcOpenMemHandle
	mapped           // by cuMemMap
	hostPages        // by cuMemHostRegister
)

var processIDs atomic.Uint64

// globalID is a number that no other process of this machine uses at this time.
func globalID() uint64 { return uint64(os.Getpid())<<32 | processIDs.Add(1) }

// MemAlloc makes device memory; it holds anything but zeros (poison).
func (c *Context) MemAlloc(bytes int64) (driver.Ptr, error) {
	return c.alloc("cuMemAlloc", bytes, allocated)
}

// MemAllocPooled makes memory as cuMemAllocAsync does, which CUDA IPC can't export.
func (c *Context) MemAllocPooled(bytes int64) (driver.Ptr, error) {
	return c.alloc("cuMemAllocAsync", bytes, pooled)
}

func (c *Context) alloc(call string, bytes int64, kind origin) (driver.Ptr, error) {
	if err := c.enterIdle(call); err != nil {
		return 0, err
	}
	defer c.leave()
	b, fd, err := c.newBlock(call, bytes, bytes > atOnce)
	if err != nil {
		return 0, err
	}
	m := &mapping{bytes: bytes, block: b, fd: fd, kind: kind}
	if err := c.enterMapping(m, fd); err != nil {
		c.freeBlock(b, fd)
		return 0, fail(call, outOfMemory)
	}
	return m.base, nil
}

// newBlock makes memory of this device. The memory is filled now or, if lazy, at its first use.
func (c *Context) newBlock(call string, bytes int64, lazy bool) (*block, int, error) {
	if bytes <= 0 {
		return nil, -1, fail(call, invalidValue)
	}
	if bytes > c.world.cfg.Memory-c.used {
		return nil, -1, fail(call, outOfMemory)
	}
	b := &block{id: globalID(), owner: c.ordinal, bytes: bytes}
	fd, err := createFile(fileName(b.id, b.owner), bytes)
	if err != nil {
		return nil, -1, fail(call, outOfMemory)
	}
	b.number = c.allocations + 1
	if lazy {
		b.filled = make([]bool, (bytes+poisonChunk-1)/poisonChunk)
	} else if err := c.world.poison(fd, b, 0, bytes); err != nil {
		unix.Close(fd)
		return nil, -1, fail(call, outOfMemory)
	}
	c.allocations++
	c.used += bytes
	c.world.blocks[b.id] = b
	return b, fd, nil
}

// freeBlock undoes newBlock; importers keep the memory.
func (c *Context) freeBlock(b *block, fd int) {
	unix.Close(fd)
	c.used -= b.bytes
	delete(c.world.blocks, b.id)
}

// enterMapping gives m an address and a buffer id.
func (c *Context) enterMapping(m *mapping, fd int) error {
	base, ok := c.place(m.bytes)
	if !ok {
		return unix.ENOMEM
	}
	return c.enterAt(m, base, fd)
}

// enterAt maps m at a free address.
func (c *Context) enterAt(m *mapping, base driver.Ptr, fd int) error {
	mem, err := c.space.mapAt(base, fd, m.bytes)
	if err != nil {
		return err
	}
	m.base, m.mem, m.bufferID = base, mem, c.world.handle()
	c.live = insert(c.live, m)
	return nil
}

func insert(list []*mapping, m *mapping) []*mapping {
	i, _ := slices.BinarySearchFunc(list, m.base, byBase)
	return slices.Insert(list, i, m)
}

func byBase(m *mapping, p driver.Ptr) int {
	switch {
	case m.base < p:
		return -1
	case m.base > p:
		return 1
	}
	return 0
}

// unmap takes m's addresses away; importers keep their addresses.
func (c *Context) unmap(m *mapping) {
	c.live = slices.DeleteFunc(c.live, func(o *mapping) bool { return o == m })
	c.space.forget(m.base, m.bytes)
	c.recent = m.base
	m.mem = nil
	switch m.kind {
	case mapped:
		m.of.maps--
		c.let(m.of)
	case allocated, pooled:
		c.freeBlock(m.block, m.fd)
	}
}

// MemFree frees memory of MemAlloc. Importers keep their mapping.
func (c *Context) MemFree(p driver.Ptr) error {
	const call = "cuMemFree"
	if err := c.enterIdle(call); err != nil {
		return err
	}
	defer c.leave()
	m := find(c.live, p)
	if m == nil || m.base != p || m.kind > pooled {
		return fail(call, invalidValue)
	}
	c.world.hostTouch(c, m, "free")
	c.unmap(m)
	return nil
}

// at finds the memory in which p lies, if this device has access to it.
func (c *Context) at(p driver.Ptr) *mapping {
	if m := find(c.live, p); m != nil {
		if m.kind == mapped && !slices.Contains(m.access, c.ordinal) {
			return nil
		}
		return m
	}
	for _, o := range c.world.contexts {
		if m := find(o.live, p); m != nil && m.kind == mapped && slices.Contains(m.access, c.ordinal) {
			return m
		}
	}
	return find(c.host, p)
}

func find(list []*mapping, p driver.Ptr) *mapping {
	lo, hi := 0, len(list)
	for lo < hi {
		if mid := (lo + hi) / 2; list[mid].base <= p {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || p-list[lo-1].base >= driver.Ptr(list[lo-1].bytes) {
		return nil
	}
	return list[lo-1]
}

// span finds the memory of n bytes at an address. It is nil unless all bytes are in one allocation, or in mappings of
// one reservation.
func (c *Context) span(p driver.Ptr, n int64) *mapping {
	m := c.at(p)
	if m == nil || n < 0 {
		return nil
	}
	for last := m; p+driver.Ptr(n) > last.end(); {
		next := c.at(last.end())
		if next == nil || last.in == nil || next.in != last.in {
			return nil
		}
		last = next
	}
	return m
}

// bytes returns n bytes at an address for use; nil where span finds no memory.
func (c *Context) bytes(p driver.Ptr, n int64) []byte {
	m := c.span(p, n)
	if m == nil || c.world.spoil(m, int64(p-m.base), min(int64(p-m.base)+n, m.bytes)) != nil {
		return nil
	}
	return unsafe.Slice(&m.mem[p-m.base], n)
}

// end is the address behind m.
func (m *mapping) end() driver.Ptr { return m.base + driver.Ptr(m.bytes) }

// word at an address, nil if there is none.
func (c *Context) word(p driver.Ptr) *uint32 {
	if p%4 != 0 {
		return nil
	}
	b := c.bytes(p, 4)
	if b == nil {
		return nil
	}
	return (*uint32)(unsafe.Pointer(&b[0]))
}

// MemGetAddressRange finds the allocation in which p lies.
func (c *Context) MemGetAddressRange(p driver.Ptr) (driver.Ptr, int64, error) {
	const call = "cuMemGetAddressRange"
	if err := c.enter(call); err != nil {
		return 0, 0, err
	}
	defer c.leave()
	m := find(c.live, p)
	if m == nil {
		return 0, 0, fail(call, notFound)
	}
	return m.base, m.bytes, nil
}

// PointerGetAttributes of device memory or registered host memory.
func (c *Context) PointerGetAttributes(p driver.Ptr) (driver.PointerAttributes, error) {
	const call = "cuPointerGetAttributes"
	if err := c.enter(call); err != nil {
		return driver.PointerAttributes{}, err
	}
	defer c.leave()
	m := find(c.live, p)
	if m == nil {
		m = c.at(p)
	}
	if m == nil {
		return driver.PointerAttributes{}, fail(call, invalidValue)
	}
	a := driver.PointerAttributes{
		Device: m.kind != hostPages, Ordinal: c.ordinal, BufferID: m.bufferID,
		LegacyIpcCapable: m.kind == allocated, Pooled: m.kind == pooled,
	}
	if m.kind == allocated || m.kind == mapped { // it may be a peer's
		a.Ordinal = m.block.owner
	}
	return a, nil
}

// MemHostRegister makes host memory known; its device address is the host address.
func (c *Context) MemHostRegister(host unsafe.Pointer, bytes int64) (driver.Ptr, error) {
	const call = "cuMemHostRegister"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if host == nil || bytes <= 0 {
		return 0, fail(call, invalidValue)
	}
	base := driver.Ptr(uintptr(host))
	for _, m := range c.host {
		if base < m.base+driver.Ptr(m.bytes) && m.base < base+driver.Ptr(bytes) {
			return 0, fail(call, alreadyRegistered)
		}
	}
	c.host = insert(c.host, &mapping{
		base: base, bytes: bytes, mem: unsafe.Slice((*byte)(host), bytes),
		fd: -1, kind: hostPages, bufferID: c.world.handle(),
	})
	return base, nil
}

// MemHostUnregister forgets host memory.
func (c *Context) MemHostUnregister(host unsafe.Pointer) error {
	const call = "cuMemHostUnregister"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	base := driver.Ptr(uintptr(host))
	i, ok := slices.BinarySearchFunc(c.host, base, byBase)
	if !ok {
		return fail(call, notRegistered)
	}
	c.host = slices.Delete(c.host, i, i+1)
	return nil
}
