package run

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// mailbox is a word of host memory that a stream writes and the host watches: the host learns within a microsecond that
// its stream has come to a point. A wait in the driver wakes up several microseconds later, by a different lag on each
// rank, and that skew would be measured as if the program caused it.
type mailbox struct {
	page  []byte
	drv   driver.Driver
	at    driver.Ptr
	count uint32
}

func newMailbox(drv driver.Driver) (*mailbox, error) {
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map a mailbox: %w", err)
	}
	at, err := drv.MemHostRegister(unsafe.Pointer(&page[0]), int64(len(page)))
	if err != nil {
		unix.Munmap(page)
		return nil, fmt.Errorf("register a mailbox: %w", err)
	}
	return &mailbox{page: page, drv: drv, at: at}, nil
}

// next is the write that a stream delivers.
func (m *mailbox) next() driver.MemOp {
	m.count++
	return driver.MemOp{Kind: driver.Write, Value: m.count, Address: m.at}
}

// wait returns when the last write has been delivered, or when failed says why it will not be. It spins where there are
// enough cores for every rank; else waiting ranks would keep the other ranks from coming.
func (m *mailbox) wait(ranks int, failed func() error) error {
	word := (*atomic.Uint32)(unsafe.Pointer(&m.page[0]))
	alone := runtime.NumCPU() >= 4*ranks
	for i := 1; word.Load() != m.count; i++ {
		if !alone {
			time.Sleep(20 * time.Microsecond)
		} else if i%(1<<16) != 0 {
			continue
		}
		if err := failed(); err != nil {
			return err
		}
	}
	return nil
}

func (m *mailbox) close() error {
	err := m.drv.MemHostUnregister(unsafe.Pointer(&m.page[0]))
	if err != nil {
		return err
	}
	return unix.Munmap(m.page)
}
