package ipc

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
)

// ErrInUse says that peers may still have an allocation open.
var ErrInUse = errors.New("peers may still have the memory open (bind the plan to other memory or close " +
	"it on all ranks first)")

// ErrFreed says that an allocation was freed while peers had it open.
var ErrFreed = errors.New("exported memory was freed while peers had it open (keep it until Close has " +
	"returned on all ranks)")

// exported is one allocation of ours that peers may have open.
type exported struct {
	identity
	size   int64
	handle driver.IpcMemHandle
	sent   bool // every peer has the handle
	refs   int
}

// Export is a buffer of ours that peers may open. It is valid until Close.
type Export struct {
	cache  *Cache
	of     *exported
	offset int64
	bytes  int64
	closed bool
}

// Export readies device memory for an exchange. Memory that peers can't reach is refused with
// the reason; the error wraps driver.ErrNotExportable.
func (c *Cache) Export(p driver.Ptr, bytes int64) (*Export, error) {
	attributes, err := c.driver.PointerGetAttributes(p)
	if err != nil {
		return nil, fmt.Errorf("export %#x: %w", p, err)
	}
	if why := refusal(attributes, c.driver.Properties().Ordinal); why != "" {
		return nil, fmt.Errorf("export %#x: it is %s: %w", p, why, driver.ErrNotExportable)
	}
	base, size, err := c.driver.MemGetAddressRange(p)
	if err != nil {
		return nil, fmt.Errorf("export %#x: %w", p, err)
	}
	offset := int64(p - base)
	if bytes <= 0 || bytes > size-offset {
		return nil, fmt.Errorf("export %#x: %d bytes wanted, and its allocation holds %d from there",
			p, bytes, size-offset)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id := identity{base, attributes.BufferID}
	e := c.exports[id]
	if e == nil {
		h, err := c.driver.IpcGetMemHandle(base)
		if err != nil {
			return nil, fmt.Errorf("export %#x: %w", p, err)
		}
		e = &exported{identity: id, size: size, handle: h}
		c.exports[id] = e
	}
	e.refs++
	return &Export{cache: c, of: e, offset: offset, bytes: bytes}, nil
}

// refusal says why neither CUDA IPC nor peer access lets peers reach memory with these attributes, or that
// it is another device's than the rank's.
func refusal(a driver.PointerAttributes, device int) string {
	switch {
	case !a.Device:
		return "not device memory (allocate it with cuMemAlloc)"
	case a.Ordinal != device:
		return fmt.Sprintf("memory of device %d, and the rank runs on device %d (allocate it there)", a.Ordinal, device)
	case a.Pooled:
		return "from a stream-ordered pool, cuMemAllocAsync (allocate it with cuMemAlloc; in PyTorch use " +
			"the native allocator)"
	case !a.LegacyIpcCapable:
		return "mapped virtual memory, cuMemMap (allocate it with cuMemAlloc; in PyTorch turn expandable_segments off)"
	}
	return ""
}

// Close gives up the buffer once every peer has closed its import of it. The
// error wraps ErrFreed if its memory was freed before. A second call does nothing.
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
	}
	a, err := c.driver.PointerGetAttributes(e.of.base)
	if driver.Faulted(err) {
		return fmt.Errorf("close export %#x: %w", e.of.base, err)
	}
	if err != nil || a.BufferID != e.of.bufferID {
		return fmt.Errorf("close export %#x: %w", e.of.base, ErrFreed)
	}
	return nil
}
