package ipc

import (
	"errors"
	"fmt"
	"sync"

	"ovgen/runtime/driver"
)

// local is the driver of a rank whose peers are in its process. Its memory is mapped (cuMemMap), and each peer maps the
// allocations that it needs again, for its device. With access to all memory of a device (cuCtxEnablePeerAccess) each
// allocation on it, also the allocation of a graph, may wait for the peers' runs, and the peers' runs may wait for this
// rank (docs/limits.md).
type local struct {
	driver.Decorator
	mu    sync.Mutex
	sizes map[driver.Ptr]int64 // of memory that MemAlloc has mapped
}

// MemAlloc maps new memory: a multiple of the granularity of mapped memory, which is 2 MiB on GPUs of today.
func (l *local) MemAlloc(bytes int64) (driver.Ptr, error) {
	if bytes <= 0 {
		return l.Driver.MemAlloc(bytes) // the driver's error names the mistake
	}
	unit, err := l.MemGetAllocationGranularity()
	if err != nil {
		return 0, err
	}
	size := (bytes + unit - 1) / unit * unit
	p, err := l.mapped(size)
	if err != nil {
		return 0, fmt.Errorf("allocate %d bytes: %w", size, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sizes[p] = size
	return p, nil
}

// mapped maps new memory, which lives as long as its mapping.
func (l *local) mapped(size int64) (p driver.Ptr, err error) {
	h, err := l.MemCreate(size, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.MemRelease(h)) }()
	if p, err = l.MemAddressReserve(size); err != nil {
		return 0, err
	}
	if err := l.MemMap(p, size, h); err != nil {
		return 0, errors.Join(err, l.MemAddressFree(p, size))
	}
	if err := l.MemSetAccess(p, size, l.Properties().Ordinal); err != nil {
		return 0, errors.Join(err, l.MemUnmap(p, size), l.MemAddressFree(p, size))
	}
	return p, nil
}

// MemFree undoes MemAlloc once the device has done all enqueued work.
func (l *local) MemFree(p driver.Ptr) error {
	l.mu.Lock()
	size := l.sizes[p]
	delete(l.sizes, p)
	l.mu.Unlock()
	if size == 0 {
		return l.Driver.MemFree(p)
	}
	if err := l.CtxSynchronize(); err != nil {
		return err
	}
	return errors.Join(l.MemUnmap(p, size), l.MemAddressFree(p, size))
}
