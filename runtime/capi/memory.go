package capi

import (
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
)

// Alloc makes device memory on the group's driver.
func Alloc(handle uintptr, bytes int64) (uint64, error) {
	m, err := find[*member](handle, "group")
	if err != nil {
		return 0, err
	}
	p, err := m.Driver().MemAlloc(bytes)
	return uint64(p), err
}

// Free frees memory of Alloc.
func Free(handle uintptr, at uint64) error {
	m, err := find[*member](handle, "group")
	if err != nil || at == 0 {
		return err
	}
	return m.Driver().MemFree(driver.Ptr(at))
}

// Symmetric takes memory that NCCL's kernels reach on every rank. It lives as long as the group.
func Symmetric(handle uintptr, bytes int64) (uint64, error) {
	m, err := find[*member](handle, "group")
	if err != nil {
		return 0, err
	}
	p, err := m.Group.Symmetric(bytes)
	return uint64(p), err
}

// CopyTo copies host memory to the device and waits.
func CopyTo(handle uintptr, dst uint64, src unsafe.Pointer, bytes int64) error {
	m, host, err := hostRange(handle, src, bytes)
	if err != nil {
		return err
	}
	return m.Driver().MemcpyHtoD(driver.Ptr(dst), host)
}

// CopyFrom copies device memory to the host and waits.
func CopyFrom(handle uintptr, dst unsafe.Pointer, src uint64, bytes int64) error {
	m, host, err := hostRange(handle, dst, bytes)
	if err != nil {
		return err
	}
	return m.Driver().MemcpyDtoH(host, driver.Ptr(src))
}

// Copy enqueues a copy from device memory to device memory.
func Copy(handle uintptr, dst, src uint64, bytes int64, stream uintptr) error {
	m, err := find[*member](handle, "group")
	if err != nil {
		return err
	}
	return m.Driver().MemcpyDtoDAsync(driver.Ptr(dst), driver.Ptr(src), bytes, driver.Stream(stream))
}

func hostRange(handle uintptr, at unsafe.Pointer, bytes int64) (*member, []byte, error) {
	m, err := find[*member](handle, "group")
	switch {
	case err != nil:
		return nil, nil, err
	case bytes < 0:
		return nil, nil, fmt.Errorf("copy %d bytes: at least 0", bytes)
	case bytes > 0 && at == nil:
		return nil, nil, ErrNull
	}
	return m, unsafe.Slice((*byte)(at), bytes), nil
}

// Synchronize waits on the host for everything enqueued on a stream. It returns an error if a run was aborted.
func Synchronize(handle, stream uintptr) error {
	m, err := find[*member](handle, "group")
	if err != nil {
		return err
	}
	if err := m.Driver().StreamSynchronize(driver.Stream(stream)); err != nil {
		return err
	}
	return m.Err()
}
