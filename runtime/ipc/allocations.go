package ipc

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"ovgen/runtime/driver"
)

// Allocation is memory that the cache's Driver allocated and has not freed.
type Allocation struct {
	Base  driver.Ptr
	Bytes int64
	// ID tells the allocation from every other allocation of the rank, also where an address is used again. It is never
	// one of CUDA's BufferIDs.
	ID uint64
}

func (a Allocation) end() driver.Ptr { return a.Base + driver.Ptr(a.Bytes) }

// ours marks the ids that the cache gives; CUDA's ids lack this bit, since CUDA counts from 1.
const ours = 1 << 63

// allocations are sorted by address.
type allocations struct {
	mu   sync.Mutex
	last uint64
	list []Allocation
}

// after returns the index of the first allocation in the list with a base above p.
func (a *allocations) after(p driver.Ptr) int {
	return sort.Search(len(a.list), func(i int) bool { return a.list[i].Base > p })
}

func (a *allocations) add(base driver.Ptr, bytes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	made := Allocation{base, bytes, ours | a.last}
	from, to := a.after(base), a.after(base+driver.Ptr(bytes)-1)
	if from > 0 && base < a.list[from-1].end() {
		from--
	}
	a.list = slices.Replace(a.list, from, to, made) // memory freed without the cache's knowledge
}

func (a *allocations) remove(base driver.Ptr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := a.after(base); i > 0 && a.list[i-1].Base == base {
		a.list = slices.Delete(a.list, i-1, i)
	}
}

func (a *allocations) find(p driver.Ptr) (Allocation, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.after(p)
	if i == 0 || p >= a.list[i-1].end() {
		return Allocation{}, false
	}
	return a.list[i-1], true
}

// Allocated finds the allocation that holds p, without asking the driver; ok is false for other memory.
func (c *Cache) Allocated(p driver.Ptr) (a Allocation, ok bool) { return c.guarded.live.find(p) }

// guarded is a driver that refuses to free memory that peers may have open, and remembers its allocations.
type guarded struct {
	driver.Decorator
	cache *Cache
	live  allocations
}

// Driver is the cache's driver, except that it refuses the MemFree of an allocation that peers may have open, with an
// error that wraps ErrInUse. The same driver must free the memory that it allocated.
func (c *Cache) Driver() driver.Driver { return c.guarded }

// MemAlloc allocates and remembers.
func (g *guarded) MemAlloc(bytes int64) (driver.Ptr, error) {
	p, err := g.Driver.MemAlloc(bytes)
	if err == nil {
		g.live.add(p, bytes)
	}
	return p, err
}

// MemFree frees p unless it is exported.
func (g *guarded) MemFree(p driver.Ptr) error {
	g.cache.mu.Lock()
	inUse := false
	for id := range g.cache.exports {
		inUse = inUse || id.base == p
	}
	g.cache.mu.Unlock()
	if inUse {
		return fmt.Errorf("free %#x: %w", p, ErrInUse)
	}
	g.live.remove(p) // before the free: afterwards another allocation may have the address
	return g.Driver.MemFree(p)
}
