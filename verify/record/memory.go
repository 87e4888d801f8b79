package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"ovgen/runtime/driver"
)

// space is the number of a rank's addresses; no address is handed out twice.
const space driver.Ptr = 1 << 62

// aligned is the alignment of allocations.
const aligned = 1 << 20

// memory is a rank's address space: ranges without contents.
type memory struct {
	rank int

	mu   sync.Mutex
	next driver.Ptr
	list []allocation // by address
	host map[unsafe.Pointer]driver.Ptr
}

type allocation struct {
	base     driver.Ptr
	bytes    int64
	imported bool
}

var errNoMemory = errors.New("no such memory")

// reserve reserves addresses.
func (m *memory) reserve(bytes int64, imported bool) (driver.Ptr, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.next + aligned
	if bytes <= 0 || driver.Ptr(bytes) > space-at {
		return 0, fmt.Errorf("allocate %d bytes: there are %d", bytes, space-at)
	}
	m.next = (at + driver.Ptr(bytes) + aligned - 1) / aligned * aligned
	m.list = append(m.list, allocation{at, bytes, imported})
	return at, nil
}

// release frees the range at an address.
func (m *memory) release(base driver.Ptr, imported bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.list, func(a allocation) bool { return a.base == base && a.imported == imported })
	if i < 0 {
		return fmt.Errorf("free %#x: %w", base, errNoMemory)
	}
	m.list = slices.Delete(m.list, i, i+1)
	return nil
}

// find is the allocation that contains an address.
func (m *memory) find(p driver.Ptr) (allocation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.list {
		if p >= a.base && p < a.base+driver.Ptr(a.bytes) {
			return a, nil
		}
	}
	return allocation{}, fmt.Errorf("look at %#x: %w", p, errNoMemory)
}

// MemAlloc reserves addresses.
func (m *memory) MemAlloc(bytes int64) (driver.Ptr, error) { return m.reserve(bytes, false) }

// MemFree gives addresses up.
func (m *memory) MemFree(p driver.Ptr) error { return m.release(p, false) }

// MemGetAddressRange is the allocation that contains p.
func (m *memory) MemGetAddressRange(p driver.Ptr) (driver.Ptr, int64, error) {
	a, err := m.find(p)
	return a.base, a.bytes, err
}

// PointerGetAttributes are the attributes of device memory.
func (m *memory) PointerGetAttributes(p driver.Ptr) (driver.PointerAttributes, error) {
	a, err := m.find(p)
	return driver.PointerAttributes{Device: true, Ordinal: m.rank, BufferID: uint64(a.base),
		LegacyIpcCapable: !a.imported}, err
}

// MemHostRegister gives host memory addresses.
func (m *memory) MemHostRegister(host unsafe.Pointer, bytes int64) (driver.Ptr, error) {
	at, err := m.reserve(bytes, false)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.host == nil {
		m.host = map[unsafe.Pointer]driver.Ptr{}
	}
	m.host[host] = at
	return at, err
}

// MemHostUnregister gives the addresses of host memory up.
func (m *memory) MemHostUnregister(host unsafe.Pointer) error {
	m.mu.Lock()
	at := m.host[host]
	delete(m.host, host)
	m.mu.Unlock()
	return m.release(at, false)
}

// IpcGetMemHandle is a handle that describes an allocation.
func (m *memory) IpcGetMemHandle(base driver.Ptr) (h driver.IpcMemHandle, err error) {
	a, err := m.find(base)
	binary.LittleEndian.PutUint64(h[:], uint64(m.rank))
	binary.LittleEndian.PutUint64(h[8:], uint64(a.bytes))
	return h, err
}

// IpcOpenMemHandle gives a peer's allocation addresses of this rank.
func (m *memory) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	if int(binary.LittleEndian.Uint64(h[:])) == m.rank {
		return 0, errors.New("open a handle: it is this rank's own")
	}
	return m.reserve(int64(binary.LittleEndian.Uint64(h[8:])), true)
}

// IpcCloseMemHandle gives the addresses of a peer's allocation up.
func (m *memory) IpcCloseMemHandle(p driver.Ptr) error { return m.release(p, true) }
