package device

import (
	"fmt"

	"ovgen/runtime/driver"
)

// Buffer is device memory that CUDA IPC can export (cuMemAlloc).
type Buffer struct {
	driver driver.Driver
	at     Ptr
	bytes  int64
	Resource
}

// Alloc allocates device memory. Its contents are undefined.
func Alloc(d driver.Driver, bytes int64) (*Buffer, error) {
	p, err := d.MemAlloc(bytes)
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes of device memory: %w", bytes, err)
	}
	b := &Buffer{driver: d, at: p, bytes: bytes}
	Track(b, &b.Resource, fmt.Sprintf("buffer of %d bytes at %#x", bytes, p))
	return b, nil
}

// Ptr is the buffer's address.
func (b *Buffer) Ptr() Ptr { return b.at }

// Bytes is the buffer's size.
func (b *Buffer) Bytes() int64 { return b.bytes }

// Set copies host memory to the start of the buffer and waits (cuMemcpyHtoD).
func (b *Buffer) Set(from []byte) error {
	if err := b.fits(len(from)); err != nil {
		return fmt.Errorf("set buffer: %w", err)
	}
	return b.driver.MemcpyHtoD(b.at, from)
}

// Get copies from the start of the buffer to host memory and waits (cuMemcpyDtoH).
func (b *Buffer) Get(to []byte) error {
	if err := b.fits(len(to)); err != nil {
		return fmt.Errorf("get buffer: %w", err)
	}
	return b.driver.MemcpyDtoH(to, b.at)
}

func (b *Buffer) fits(n int) error {
	if int64(n) > b.bytes {
		return fmt.Errorf("%d bytes, and the buffer has %d", n, b.bytes)
	}
	return nil
}

// Close frees the memory. A second call does nothing. No enqueued work may use it any more, and no plan be bound to it.
func (b *Buffer) Close() error {
	return b.Done(func() error { return b.driver.MemFree(b.at) })
}
