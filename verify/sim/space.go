package sim

import (
	"fmt"
	"os"
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
	for i := 0; i <= len(c.live); i++ {
		end := c.space.base + driver.Ptr(c.space.bytes)
		if i < len(c.live) {
			end = c.live[i].base
		}
		if int64(end-at) >= pages(bytes) {
			if c.recent >= at && c.recent < end && int64(end-c.recent) >= pages(bytes) {
				return c.recent, true
			}
			if first == 0 {
				first = at
			}
		}
		if i < len(c.live) {
			at = c.live[i].base + driver.Ptr(pages(c.live[i].bytes))
		}
	}
	return first, first != 0
}

func fileName(id uint64) string { return fmt.Sprintf("ovgen-sim-%016x", id) }
