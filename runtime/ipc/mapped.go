package ipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"

	"ovgen/runtime/driver"
)

// mapping is one allocation at the address where it is mapped (cuMemMap).
type mapping struct {
	at       driver.Ptr
	bytes    int64
	bufferID uint64
}

// mappings are consecutive mappings, such as the allocations of an expandable segment of PyTorch's.
type mappings []mapping

func (m mappings) size() (bytes int64) {
	for _, x := range m {
		bytes += x.bytes
	}
	return bytes
}

// id tells the memory from other memory that begins at the same address: CUDA's id for one, a hash of them for several.
func (m mappings) id() uint64 {
	if len(m) == 1 {
		return m[0].bufferID
	}
	h := fnv.New64a()
	for _, x := range m {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], x.bufferID)
		binary.LittleEndian.PutUint64(b[8:], uint64(x.bytes))
		h.Write(b[:])
	}
	return ours | h.Sum64()
}

// Mapped reports whether memory with these attributes is memory of the device that comes neither from cuMemAlloc nor
// from a pool: it is mapped memory, or a peer's memory.
func Mapped(a driver.PointerAttributes, device int) bool {
	return !a.LegacyIpcCapable && refusal(a, device) == ""
}

// walk finds the mappings that hold a range of addresses. It makes two calls of CUDA for each mapping.
func (c *Cache) walk(p driver.Ptr, bytes int64) (list mappings, err error) {
	for at := p; len(list) == 0 || at < p+driver.Ptr(bytes); {
		m, err := c.find(at)
		switch {
		case err != nil && (len(list) == 0 || driver.Faulted(err)):
			return nil, err
		case err != nil || len(list) > 0 && m.at != at:
			return list, fmt.Errorf("%d bytes wanted, and its allocations hold %d from there", bytes, at-p)
		}
		list, at = append(list, m), m.at+driver.Ptr(m.bytes)
	}
	return list, nil
}

// find returns the mapping that holds an address.
func (c *Cache) find(p driver.Ptr) (m mapping, err error) {
	a, err := c.driver.PointerGetAttributes(p)
	if err != nil {
		return m, err
	}
	if !Mapped(a, c.driver.Properties().Ordinal) {
		return m, fmt.Errorf("%#x is no mapped memory of this device", p)
	}
	m.bufferID = a.BufferID
	m.at, m.bytes, err = c.driver.MemGetAddressRange(p)
	return m, err
}

// Identify is an id of the mapped memory of a range. It changes if any allocation in the range is replaced.
func (c *Cache) Identify(p driver.Ptr, bytes int64) (uint64, error) {
	list, err := c.walk(p, bytes)
	if len(list) == 0 {
		return 0, err
	}
	return list.id(), err
}

// segment is the mapped memory that holds a buffer: whole allocations.
func (c *Cache) segment(p driver.Ptr, bytes int64) (*exported, error) {
	list, err := c.walk(p, bytes)
	if err != nil {
		return nil, err
	}
	return &exported{identity: identity{list[0].at, list.id()}, size: list.size(), mapped: list}, nil
}

// ways are the ways in which an allocation may reach another process, the best first: a file reaches every process of
// the machine; a fabric handle needs a device that has a fabric.
var ways = []driver.HandleType{driver.FileDescriptor, driver.FabricHandle}

// share makes the parts of the handle, for the peers' processes.
func (c *Cache) share(e *exported) error {
	if len(e.mapped) > maxParts {
		return fmt.Errorf("it consists of %d allocations, and at most %d are shared (allocate it in fewer): %w",
			len(e.mapped), maxParts, driver.ErrNotExportable)
	}
	for _, m := range e.mapped {
		p := Part{Bytes: m.bytes}
		if c.local {
			p.At = m.at
			e.handle.Parts = append(e.handle.Parts, p)
			continue
		}
		s, err := c.shareable(m.at)
		if err != nil {
			closeFiles(e.files)
			return err
		}
		if s.Type == driver.FabricHandle {
			p.Fabric = &s.Fabric
		} else {
			e.files = append(e.files, os.NewFile(uintptr(s.File), "device memory"))
		}
		e.handle.Parts = append(e.handle.Parts, p)
	}
	return nil
}

// shareable exports the allocation that is mapped at an address.
func (c *Cache) shareable(at driver.Ptr) (s driver.Shareable, err error) {
	v := c.driver
	h, err := v.MemRetainAllocationHandle(at)
	if err != nil {
		return s, fmt.Errorf("it is memory neither of cuMemAlloc nor of cuMemCreate, such as a peer's: %w: %w",
			driver.ErrNotExportable, err)
	}
	defer func() { err = errors.Join(err, v.MemRelease(h)) }()
	types, err := v.MemGetAllocationPropertiesFromHandle(h)
	if err != nil {
		return s, err
	}
	for _, way := range ways {
		if types&way != 0 {
			if s, err = v.MemExportToShareableHandle(h, way); err != nil {
				err = fmt.Errorf("%w: %w", driver.ErrNotExportable, err)
			}
			return s, err
		}
	}
	return s, fmt.Errorf("it is mapped virtual memory, cuMemMap, that was made for no process but this one (give "+
		"cuMemCreate CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR; in PyTorch before 2.5 turn expandable_segments off): %w",
		driver.ErrNotExportable)
}

// view is a peer's mapped memory, mapped here.
type view struct {
	v     driver.VirtualMemory
	at    driver.Ptr
	bytes int64
	parts []int64 // bytes of the parts that are mapped
}

// openParts maps a peer's parts one behind the other. It takes the parts' files from the front of files.
func (c *Cache) openParts(o Offer, files []*os.File) (*view, error) {
	v := c.driver
	at, err := v.MemAddressReserve(o.Size)
	if err != nil {
		return nil, err
	}
	w := &view{v: v, at: at, bytes: o.Size}
	for _, p := range o.Handle.Parts {
		h, err := c.physical(p, files)
		if p.file() {
			files = files[1:]
		}
		if err == nil {
			err = w.add(h, p.Bytes)
		}
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	if err := v.MemSetAccess(at, o.Size, c.driver.Properties().Ordinal); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// physical opens a peer's part, by its address in this process, by its fabric handle, or by the first of the files.
func (c *Cache) physical(p Part, files []*os.File) (driver.Physical, error) {
	switch {
	case p.At != 0 && !c.local:
		return 0, fmt.Errorf("a part by its address, %#x, in another process: %w", p.At, ErrMessage)
	case p.At != 0:
		return c.driver.MemRetainAllocationHandle(p.At)
	case p.Fabric != nil:
		return c.driver.MemImportFromShareableHandle(driver.Shareable{Type: driver.FabricHandle, Fabric: *p.Fabric})
	}
	file := int(files[0].Fd())
	return c.driver.MemImportFromShareableHandle(driver.Shareable{Type: driver.FileDescriptor, File: file})
}

// add maps the next part, which then lives as long as its mapping.
func (w *view) add(h driver.Physical, bytes int64) error {
	at := w.at
	for _, n := range w.parts {
		at += driver.Ptr(n)
	}
	if err := w.v.MemMap(at, bytes, h); err != nil {
		return errors.Join(err, w.v.MemRelease(h))
	}
	w.parts = append(w.parts, bytes)
	return w.v.MemRelease(h)
}

// close unmaps the parts.
func (w *view) close() error {
	var errs []error
	at := w.at
	for _, n := range w.parts {
		errs = append(errs, w.v.MemUnmap(at, n))
		at += driver.Ptr(n)
	}
	return errors.Join(append(errs, w.v.MemAddressFree(w.at, w.bytes))...)
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
