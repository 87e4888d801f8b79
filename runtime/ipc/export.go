package ipc

import (
	"errors"
	"fmt"
	"os"

	"ovgen/runtime/driver"
)

// ErrInUse says that peers may still have an allocation open.
var ErrInUse = errors.New("peers may still have the memory open (bind the plan to other memory or close " +
	"it on all ranks first)")

// ErrFreed says that an allocation was freed while peers had it open.
var ErrFreed = errors.New("exported memory was freed while peers had it open (keep it until Close has " +
	"returned on all ranks)")

// exported is one allocation of this rank, or mapped memory of several, that peers may have open.
type exported struct {
	identity
	size   int64
	mapped mappings // nil: one allocation of cuMemAlloc
	handle Handle
	files  []*os.File // of the handle's parts, until it is sent
	sent   bool       // every peer has the handle
	refs   int
}

// Export is a buffer of this rank that peers may open. It is valid until Close.
type Export struct {
	cache  *Cache
	of     *exported
	offset int64
	bytes  int64
	closed bool
}

// Export prepares device memory for an exchange. It refuses memory that peers can't reach with the reason; the error
// wraps driver.ErrNotExportable.
func (c *Cache) Export(p driver.Ptr, bytes int64) (*Export, error) {
	attributes, err := c.driver.PointerGetAttributes(p)
	if err != nil {
		return nil, fmt.Errorf("export %#x: %w", p, err)
	}
	if why := refusal(attributes, c.driver.Properties().Ordinal); why != "" {
		return nil, fmt.Errorf("export %#x: it is %s: %w", p, why, driver.ErrNotExportable)
	}
	var of *exported
	if attributes.LegacyIpcCapable {
		of, err = c.allocation(p, attributes.BufferID)
	} else {
		of, err = c.segment(p, bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("export %#x: %w", p, err)
	}
	offset := int64(p - of.base)
	room := of.size - offset
	if a, ok := c.Allocated(p); ok { // mapped memory is larger than the allocation
		room = min(room, int64(a.end()-p))
	}
	if bytes <= 0 || bytes > room {
		return nil, fmt.Errorf("export %#x: %d bytes wanted, and its allocation holds %d from there", p, bytes, room)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.exports[of.identity]; e != nil {
		of = e
	} else if err := c.ready(of); err != nil {
		return nil, fmt.Errorf("export %#x: %w", p, err)
	}
	c.exports[of.identity] = of
	of.refs++
	return &Export{cache: c, of: of, offset: offset, bytes: bytes}, nil
}

// allocation is the memory that CUDA IPC exports at an address.
func (c *Cache) allocation(p driver.Ptr, id uint64) (*exported, error) {
	base, size, err := c.driver.MemGetAddressRange(p)
	return &exported{identity: identity{base, id}, size: size}, err
}

// ready makes the handle of the memory.
func (c *Cache) ready(e *exported) (err error) {
	switch {
	case e.mapped == nil && c.local:
		err = fmt.Errorf("it is memory of cuMemAlloc, which ranks of one process would reach only with access to all "+
			"memory of its device (allocate it with the group's Driver, or map it, cuMemMap; in PyTorch turn "+
			"expandable_segments on): %w", driver.ErrNotExportable)
	case e.mapped == nil:
		e.handle.Legacy, err = c.driver.IpcGetMemHandle(e.base)
	default:
		err = c.share(e)
	}
	return err
}

// refusal is the reason why peers can't reach memory with these attributes in any way, or that the memory is on another
// device than the rank's.
func refusal(a driver.PointerAttributes, device int) string {
	switch {
	case !a.Device:
		return "not device memory (allocate it with cuMemAlloc)"
	case a.Ordinal != device:
		return fmt.Sprintf("memory of device %d, and the rank runs on device %d (allocate it there)", a.Ordinal, device)
	case a.Pooled:
		return "from a stream-ordered pool, cuMemAllocAsync (allocate it with cuMemAlloc; in PyTorch use " +
			"the native allocator)"
	}
	return ""
}

// Close releases the buffer once every peer has closed its import of it. The error wraps ErrFreed if the memory was
// freed before. A second call does nothing.
func (e *Export) Close() error {
	c := e.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	if e.of.refs--; e.of.refs == 0 {
		delete(c.exports, e.of.identity)
		closeFiles(e.of.files)
	}
	id, err := c.identify(e.of)
	if driver.Faulted(err) {
		return fmt.Errorf("close export %#x: %w", e.of.base, err)
	}
	if err != nil || id != e.of.bufferID {
		return fmt.Errorf("close export %#x: %w", e.of.base, ErrFreed)
	}
	return nil
}

// identify returns the present identity of the memory at the export's address.
func (c *Cache) identify(e *exported) (id uint64, err error) {
	if e.mapped != nil {
		now, err := c.walk(e.base, e.size)
		if err != nil {
			return 0, err
		}
		return now.id(), nil
	}
	a, err := c.driver.PointerGetAttributes(e.base)
	return a.BufferID, err
}
