package sim

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// handle is the content of the simulator's IpcMemHandle.
type handle struct {
	pid     uint32 // of the exporter
	fd      uint32 // there
	context uint64
	block   uint64
	bytes   uint64
	owner   uint32
}

const magic = 0x6d69736e6567766f // "ovgensim"

func (h handle) encode() (out driver.IpcMemHandle) {
	e := binary.LittleEndian
	e.PutUint64(out[0:], magic)
	e.PutUint32(out[8:], h.pid)
	e.PutUint32(out[12:], h.fd)
	e.PutUint64(out[16:], h.context)
	e.PutUint64(out[24:], h.block)
	e.PutUint64(out[32:], h.bytes)
	e.PutUint32(out[40:], h.owner)
	return out
}

func decode(in driver.IpcMemHandle) (handle, bool) {
	e := binary.LittleEndian
	return handle{
		pid: e.Uint32(in[8:]), fd: e.Uint32(in[12:]), context: e.Uint64(in[16:]),
		block: e.Uint64(in[24:]), bytes: e.Uint64(in[32:]), owner: e.Uint32(in[40:]),
	}, e.Uint64(in[:]) == magic
}

// IpcGetMemHandle exports memory of MemAlloc.
func (c *Context) IpcGetMemHandle(base driver.Ptr) (driver.IpcMemHandle, error) {
	const call = "cuIpcGetMemHandle"
	if err := c.enter(call); err != nil {
		return driver.IpcMemHandle{}, err
	}
	defer c.leave()
	m := find(c.live, base)
	switch {
	case m == nil || m.base != base:
		return driver.IpcMemHandle{}, fail(call, invalidValue)
	case m.kind != allocated:
		return driver.IpcMemHandle{}, fmt.Errorf("%w: %w", driver.ErrNotExportable, fail(call, invalidValue))
	case c.world.spoil(m, 0, m.bytes) != nil:
		return driver.IpcMemHandle{}, fail(call, outOfMemory)
	}
	h := handle{
		pid: uint32(os.Getpid()), fd: uint32(m.fd), context: c.id,
		block: m.block.id, bytes: uint64(m.bytes), owner: uint32(c.ordinal),
	}
	return h.encode(), nil
}

// IpcOpenMemHandle maps memory of another rank's process; in seeded mode each context counts as a process. A second
// open of the same handle gives the same address, and is counted.
func (c *Context) IpcOpenMemHandle(in driver.IpcMemHandle) (driver.Ptr, error) {
	const call = "cuIpcOpenMemHandle"
	if err := c.enterIdle(call); err != nil {
		return 0, err
	}
	defer c.leave()
	h, ok := decode(in)
	switch {
	case !ok:
		return 0, fail(call, invalidValue)
	case h.context == c.id || c.world.real && int(h.pid) == os.Getpid():
		return 0, fail(call, invalidContext)
	case c.world.cfg.PeerAccess != nil && !c.world.cfg.PeerAccess(c.ordinal, int(h.owner)):
		return 0, fail(call, peerUnsupported)
	}
	for _, m := range c.live {
		if m.kind == imported && m.handle == in {
			m.opens++
			return m.base, nil
		}
	}
	fd, err := h.file()
	if err != nil {
		return 0, fmt.Errorf("%w (%w)", fail(call, invalidValue), err)
	}
	defer unix.Close(fd)
	b := c.world.blocks[h.block]
	if b == nil {
		b = &block{id: h.block, owner: int(h.owner), bytes: int64(h.bytes)}
	}
	m := &mapping{bytes: int64(h.bytes), block: b, fd: -1, kind: imported, opens: 1, handle: in}
	if err := c.enterMapping(m, fd); err != nil {
		return 0, fmt.Errorf("%w (%w)", fail(call, outOfMemory), err)
	}
	return m.base, nil
}

// file opens the exporter's memfd. It refuses a file that was freed, or that has another name than the handle's block.
func (h handle) file() (int, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", h.pid, h.fd)
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open memory of process %d: %w", h.pid, err)
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err == nil && !strings.Contains(name, fileName(h.block, int(h.owner))) {
		err = fmt.Errorf("open memory of process %d: it was freed", h.pid)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// IpcCloseMemHandle unmaps a mapping of IpcOpenMemHandle, at the last close.
func (c *Context) IpcCloseMemHandle(p driver.Ptr) error {
	const call = "cuIpcCloseMemHandle"
	if err := c.enterIdle(call); err != nil {
		return err
	}
	defer c.leave()
	m := find(c.live, p)
	if m == nil || m.base != p || m.kind != imported {
		return fail(call, invalidValue)
	}
	if m.opens--; m.opens == 0 {
		c.unmap(m)
	}
	return nil
}
