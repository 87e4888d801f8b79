package ipc

import (
	"errors"
	"fmt"
	"os"

	"ovgen/runtime/driver"
)

// imported is one allocation of a peer, mapped here.
type imported struct {
	key  key
	at   driver.Ptr
	view *view // of mapped memory
	size int64
	refs int
}

// Import is a reference to a peer's buffer. It is valid until Close.
type Import struct {
	cache  *Cache
	of     *imported
	offset int64
	bytes  int64
	closed bool
}

// Ptr is the buffer's address here.
func (i *Import) Ptr() driver.Ptr { return i.of.at + driver.Ptr(i.offset) }

// Bytes is the buffer's size.
func (i *Import) Bytes() int64 { return i.bytes }

// acquire maps the allocation of an offer, by the offer's files if it has any, or counts one more reference to it.
func (c *Cache) acquire(peer int, o Offer, files []*os.File) (*Import, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key{peer, identity{o.Base, o.BufferID}}
	a := c.imports[k]
	switch {
	case a != nil && a.size != o.Size:
		return nil, fmt.Errorf("allocation %#x has %d bytes, and had %d: %w", o.Base, o.Size, a.size, ErrMessage)
	case a != nil:
		c.count.Hits++
	case o.Handle == nil:
		return nil, fmt.Errorf("allocation %#x comes without its handle and is not in the cache: %w", o.Base,
			ErrMessage)
	default:
		a = &imported{key: k, size: o.Size}
		if err := c.openHandle(a, o, files); err != nil {
			return nil, err
		}
		c.count.Opens++
		c.imports[k] = a
	}
	a.refs++
	return &Import{cache: c, of: a, offset: o.Offset, bytes: o.Bytes}, nil
}

func (c *Cache) openHandle(a *imported, o Offer, files []*os.File) (err error) {
	if o.Handle.Parts == nil {
		a.at, err = c.driver.IpcOpenMemHandle(o.Handle.Legacy)
		return err
	}
	if a.view, err = c.openParts(o, files); err == nil {
		a.at = a.view.at
	}
	return err
}

// ErrForgotten says that an import is no longer in the cache.
var ErrForgotten = errors.New("the peer's memory is not mapped any more")

// Find looks up an import again by its peer and allocation, as an exchange would, and counts a hit. After Close the
// error wraps ErrForgotten.
func (c *Cache) Find(i *Import) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i.closed || c.imports[i.of.key] != i.of {
		return fmt.Errorf("look up rank %d's memory: %w", i.of.key.peer, ErrForgotten)
	}
	c.count.Hits++
	return nil
}

// Close releases the reference; the last one of an allocation unmaps the allocation. No enqueued work may use the
// buffer any more. A second call does nothing.
func (i *Import) Close() error {
	c := i.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if i.closed {
		return nil
	}
	i.closed = true
	if i.of.refs--; i.of.refs > 0 {
		return nil
	}
	delete(c.imports, i.of.key)
	c.count.Closes++
	var err error
	if i.of.view != nil {
		err = i.of.view.close()
	} else {
		err = c.driver.IpcCloseMemHandle(i.of.at)
	}
	if err != nil {
		return fmt.Errorf("close rank %d's memory: %w", i.of.key.peer, err)
	}
	return nil
}

// CloseImports closes all imports of an exchange.
func CloseImports(imports [][]*Import) error {
	var errs []error
	for _, of := range imports {
		for _, i := range of {
			errs = append(errs, i.Close())
		}
	}
	return errors.Join(errs...)
}
