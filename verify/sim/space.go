package sim

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// space is the range of addresses in which a context maps its memory. The
// simulator places mappings itself, so that an address is used again at once
// after a free, as CUDA does, and so that no stray pointer meets the Go heap.
type space struct {
	at    unsafe.Pointer
	base  driver.Ptr
	bytes int64
}

const spaceBytes = 256 << 30

func reserve() (space, error) {
	at, err := unix.MmapPtr(-1, 0, nil, spaceBytes, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return space{}, err
	}
	return space{at, driver.Ptr(uintptr(at)), spaceBytes}, nil
}

func (s *space) release() {
	if s.at != nil {
		unix.MunmapPtr(s.at, uintptr(s.bytes))
		s.at = nil
	}
}

// mapAt maps a file at base and returns its first bytes.
func (s *space) mapAt(base driver.Ptr, fd int, bytes int64) ([]byte, error) {
	at, err := unix.MmapPtr(fd, 0, unsafe.Add(s.at, base-s.base), uintptr(pages(bytes)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(at), bytes), nil
}

// forget makes addresses illegal again.
func (s *space) forget(base driver.Ptr, bytes int64) {
	unix.MmapPtr(-1, 0, unsafe.Add(s.at, base-s.base), uintptr(pages(bytes)),
		unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED)
}

var pageSize = int64(os.Getpagesize())

func pages(bytes int64) int64 { return (bytes + pageSize - 1) / pageSize * pageSize }

// place finds a hole for bytes, first at the address freed last.
func (c *Context) place(bytes int64) (driver.Ptr, bool) {
	first, at := driver.Ptr(0), c.space.base
	taken := append(c.taken(), reservation{c.space.base + driver.Ptr(c.space.bytes), 0})
	for _, t := range taken {
		if int64(t.base-at) >= pages(bytes) {
			if c.recent >= at && c.recent < t.base && int64(t.base-c.recent) >= pages(bytes) {
				return c.recent, true
			}
			if first == 0 {
				first = at
			}
		}
		at = t.base + driver.Ptr(pages(t.bytes))
	}
	return first, first != 0
}

// taken are the addresses in use: reservations, and mappings outside of them.
func (c *Context) taken() (list []reservation) {
	for _, m := range c.live {
		if m.in == nil {
			list = append(list, reservation{m.base, m.bytes})
		}
	}
	for _, r := range c.reserved {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b reservation) int { return cmp.Compare(a.base, b.base) })
	return list
}

// fileName tells importers which block a memfd is, and which device owns it.
func fileName(id uint64, owner int) string { return fmt.Sprintf("ovgen-sim-%016x-%d", id, owner) }

// readName is the reverse of fileName.
func readName(name string) (id uint64, owner int, err error) {
	_, name, _ = strings.Cut(name, "ovgen-sim-")
	if _, err := fmt.Sscanf(name, "%16x-%d", &id, &owner); err != nil {
		return 0, 0, fmt.Errorf("it is no file of a simulated device: %w", err)
	}
	return id, owner, nil
}
