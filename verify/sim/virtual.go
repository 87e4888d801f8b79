package sim

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// granularity of physical memory: it is less than the 2 MiB of an H200, since all new memory is filled.
const granularity = 64 << 10

// physical is memory without an address, made here or by a peer.
type physical struct {
	handle  driver.Physical
	block   *block
	fd      int
	types   driver.HandleType
	made    bool // by this context
	handles int  // given out and not released
	maps    int
}

// reservation is a range of addresses to map memory at.
type reservation struct {
	base  driver.Ptr
	bytes int64
}

// let frees memory to which nothing here refers any more; importers keep it.
func (c *Context) let(p *physical) {
	if p.handles > 0 || p.maps > 0 {
		return
	}
	delete(c.physicals, p.handle)
	if p.made {
		c.freeBlock(p.block, p.fd)
	} else {
		unix.Close(p.fd)
	}
}

// MemGetAllocationGranularity is 64 KiB.
func (c *Context) MemGetAllocationGranularity() (int64, error) { return granularity, nil }

// MemCreate makes memory without an address; it holds anything but zeros (poison).
func (c *Context) MemCreate(bytes int64, types driver.HandleType) (driver.Physical, error) {
	const call = "cuMemCreate"
	if err := c.enterIdle(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if bytes%granularity != 0 || types&^(driver.FileDescriptor|driver.FabricHandle) != 0 {
		return 0, fail(call, invalidValue)
	}
	b, fd, err := c.newBlock(call, bytes, false)
	if err != nil {
		return 0, err
	}
	return c.give(&physical{block: b, fd: fd, types: types, made: true}), nil
}

// give makes the first handle of memory.
func (c *Context) give(p *physical) driver.Physical {
	p.handle, p.handles = driver.Physical(c.world.handle()), 1
	c.physicals[p.handle] = p
	return p.handle
}

// MemRetainAllocationHandle adds a handle to the memory that MemMap has mapped at p.
func (c *Context) MemRetainAllocationHandle(p driver.Ptr) (driver.Physical, error) {
	const call = "cuMemRetainAllocationHandle"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if m := find(c.live, p); m != nil && m.kind == mapped {
		m.of.handles++
		return m.of.handle, nil
	}
	for _, o := range c.world.contexts { // of this process
		if m := find(o.live, p); m != nil && m.kind == mapped {
			fd, err := unix.FcntlInt(uintptr(m.of.fd), unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				return 0, fmt.Errorf("%w (%w)", fail(call, outOfMemory), err)
			}
			return c.give(&physical{block: m.block, fd: fd, types: m.of.types}), nil
		}
	}
	return 0, fail(call, invalidValue)
}

// held is the memory of a handle, nil if there is none.
func (c *Context) held(h driver.Physical) *physical {
	if p := c.physicals[h]; p != nil && p.handles > 0 {
		return p
	}
	return nil
}

// MemGetAllocationPropertiesFromHandle returns the properties that were given to MemCreate.
func (c *Context) MemGetAllocationPropertiesFromHandle(h driver.Physical) (driver.HandleType, error) {
	const call = "cuMemGetAllocationPropertiesFromHandle"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	p := c.held(h)
	if p == nil {
		return 0, fail(call, invalidValue)
	}
	return p.types, nil
}

// MemExportToShareableHandle gives a file or, with Config.Fabric, a file's name.
func (c *Context) MemExportToShareableHandle(h driver.Physical, t driver.HandleType) (driver.Shareable, error) {
	const call = "cuMemExportToShareableHandle"
	if err := c.enter(call); err != nil {
		return driver.Shareable{}, err
	}
	defer c.leave()
	p := c.held(h)
	if p == nil || p.types&t == 0 {
		return driver.Shareable{}, fail(call, invalidValue)
	}
	s := driver.Shareable{Type: t}
	var err error
	switch {
	case t == driver.FileDescriptor:
		s.File, err = unix.FcntlInt(uintptr(p.fd), unix.F_DUPFD_CLOEXEC, 0)
	case t == driver.FabricHandle && c.world.cfg.Fabric:
		s.Fabric = handle{pid: uint32(os.Getpid()), fd: uint32(p.fd), context: c.id, block: p.block.id,
			bytes: uint64(p.block.bytes), owner: uint32(p.block.owner)}.encode()
	default:
		return driver.Shareable{}, fail(call, invalidValue)
	}
	if err != nil {
		return driver.Shareable{}, fmt.Errorf("%w (%w)", fail(call, outOfMemory), err)
	}
	return s, nil
}

// MemImportFromShareableHandle opens a file of a simulated device.
func (c *Context) MemImportFromShareableHandle(s driver.Shareable) (driver.Physical, error) {
	const call = "cuMemImportFromShareableHandle"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	fd, err := -1, error(nil)
	h, ok := decode(s.Fabric)
	switch {
	case s.Type == driver.FileDescriptor:
		fd, err = unix.FcntlInt(uintptr(s.File), unix.F_DUPFD_CLOEXEC, 0)
	case s.Type == driver.FabricHandle && c.world.cfg.Fabric && ok:
		fd, err = h.file()
	default:
		return 0, fail(call, invalidValue)
	}
	if err != nil {
		return 0, fmt.Errorf("%w (%w)", fail(call, invalidValue), err)
	}
	b, err := c.blockOf(fd)
	if err != nil {
		unix.Close(fd)
		return 0, fmt.Errorf("%w (%w)", fail(call, invalidValue), err)
	}
	return c.give(&physical{block: b, fd: fd, types: s.Type}), nil
}

// blockOf finds the allocation whose memory a file has, by the file's name.
func (c *Context) blockOf(fd int) (*block, error) {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return nil, err
	}
	id, owner, err := readName(name)
	if err != nil {
		return nil, err
	}
	if b := c.world.blocks[id]; b != nil {
		return b, nil
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, err
	}
	return &block{id: id, owner: owner, bytes: stat.Size}, nil
}

// MemRelease gives up a handle.
func (c *Context) MemRelease(h driver.Physical) error {
	const call = "cuMemRelease"
	if err := c.enterIdle(call); err != nil {
		return err
	}
	defer c.leave()
	p := c.held(h)
	if p == nil {
		return fail(call, invalidValue)
	}
	p.handles--
	c.let(p)
	return nil
}

// MemAddressReserve keeps addresses for MemMap.
func (c *Context) MemAddressReserve(bytes int64) (driver.Ptr, error) {
	const call = "cuMemAddressReserve"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if bytes <= 0 || bytes%granularity != 0 {
		return 0, fail(call, invalidValue)
	}
	base, ok := c.place(bytes)
	if !ok {
		return 0, fail(call, outOfMemory)
	}
	c.reserved = append(c.reserved, &reservation{base, bytes})
	return base, nil
}

// MemAddressFree gives back a reservation in which nothing is mapped.
func (c *Context) MemAddressFree(p driver.Ptr, bytes int64) error {
	const call = "cuMemAddressFree"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	i := slices.IndexFunc(c.reserved, func(r *reservation) bool { return *r == reservation{p, bytes} })
	if i < 0 || slices.ContainsFunc(c.live, func(m *mapping) bool { return m.in == c.reserved[i] }) {
		return fail(call, invalidValue)
	}
	c.reserved = slices.Delete(c.reserved, i, i+1)
	return nil
}

// reservation is the reservation that contains a whole range, nil if none does.
func (c *Context) reservation(p driver.Ptr, bytes int64) *reservation {
	for _, r := range c.reserved {
		if p >= r.base && p+driver.Ptr(bytes) <= r.base+driver.Ptr(r.bytes) {
			return r
		}
	}
	return nil
}

// MemMap maps memory at free addresses of a reservation.
func (c *Context) MemMap(at driver.Ptr, bytes int64, h driver.Physical) error {
	const call = "cuMemMap"
	if err := c.enterIdle(call); err != nil {
		return err
	}
	defer c.leave()
	p, r, end := c.held(h), c.reservation(at, bytes), at+driver.Ptr(bytes)
	if p == nil || bytes != p.block.bytes || r == nil || (at-r.base)%granularity != 0 ||
		slices.ContainsFunc(c.live, func(m *mapping) bool { return at < m.end() && m.base < end }) {
		return fail(call, invalidValue)
	}
	m := &mapping{bytes: bytes, block: p.block, fd: -1, kind: mapped, of: p, in: r}
	if err := c.enterAt(m, at, p.fd); err != nil {
		return fmt.Errorf("%w (%w)", fail(call, outOfMemory), err)
	}
	p.maps++
	return nil
}

// MemUnmap undoes one MemMap. It is no error to unmap memory that is reserved and not mapped.
func (c *Context) MemUnmap(p driver.Ptr, bytes int64) error {
	const call = "cuMemUnmap"
	if err := c.enterIdle(call); err != nil {
		return err
	}
	defer c.leave()
	m := find(c.live, p)
	if m == nil && c.reservation(p, bytes) != nil {
		return nil
	}
	if m == nil || m.base != p || m.bytes != bytes || m.kind != mapped {
		return fail(call, invalidValue)
	}
	if m.of.made {
		c.world.hostTouch(c, m, "unmap")
	}
	c.unmap(m)
	return nil
}

// MemSetAccess lets a device use mappings of this context, or of another context of the process whose memory it may
// use.
func (c *Context) MemSetAccess(p driver.Ptr, bytes int64, device int) error {
	const call = "cuMemSetAccess"
	if err := c.enterIdle(call); err != nil {
		return err
	}
	defer c.leave()
	list := c.mappings(p, bytes)
	if list == nil {
		return fail(call, invalidValue)
	}
	for _, m := range list {
		f := c.world.cfg.PeerAccess
		if device < 0 || device >= c.world.cfg.Devices ||
			device != m.block.owner && f != nil && !f(device, m.block.owner) {
			return fail(call, invalidDevice)
		}
	}
	for _, m := range list {
		if !slices.Contains(m.access, device) {
			m.access = append(m.access, device)
		}
	}
	return nil
}

// mappings lists the whole mappings that fill a range, nil where no whole mappings do.
func (c *Context) mappings(p driver.Ptr, bytes int64) (list []*mapping) {
	for _, o := range append([]*Context{c}, c.world.contexts...) {
		for at := p; at < p+driver.Ptr(bytes); {
			m := find(o.live, at)
			if m == nil || m.kind != mapped || m.base != at || m.end() > p+driver.Ptr(bytes) ||
				len(list) > 0 && m.in != list[0].in {
				list = nil
				break
			}
			list, at = append(list, m), m.end()
		}
		if list != nil {
			return list
		}
	}
	return nil
}
