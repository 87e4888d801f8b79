package capi

import (
	"fmt"
	"runtime/cgo"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// shared is a buffer with the group whose ranks share it.
type shared struct {
	*group.Peers
	of *member
}

// Peers shares a buffer for kernels of the caller. It returns the handle of the shared buffer, and the tables with the
// addresses of the ranks' buffers and words.
func Peers(handle uintptr, at uint64, bytes int64, words int, ms int64) (h uintptr, buffers, first uint64, err error) {
	m, err := find[*member](handle, "group")
	if err != nil {
		return 0, 0, 0, err
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("share a buffer: %w", err)
	}
	defer cancel()
	p, err := m.Group.Peers(ctx, driver.Ptr(at), bytes, words)
	if err != nil {
		return 0, 0, 0, err
	}
	h = uintptr(cgo.NewHandle(&shared{p, m}))
	m.mu.Lock()
	m.parts = append(m.parts, h)
	m.mu.Unlock()
	return h, uint64(p.Buffers()), uint64(p.Words()), nil
}

// ClosePeers ends the use of a shared buffer. Its handle is invalid afterwards, also after an error, unless the call
// refuses its timeout.
func ClosePeers(handle uintptr, ms int64) error {
	x, err := find[*shared](handle, "shared buffer")
	if err != nil {
		return err
	}
	ctx, cancel, err := within(ms)
	if err != nil {
		return fmt.Errorf("close a shared buffer: %w", err)
	}
	defer cancel()
	err = x.Close(ctx)
	x.of.drop(handle)
	return err
}

// drop forgets a plan or a shared buffer that is closed.
func (m *member) drop(handle uintptr) {
	m.mu.Lock()
	m.parts = slices.DeleteFunc(m.parts, func(h uintptr) bool { return h == handle })
	m.mu.Unlock()
	forget(handle)
}
