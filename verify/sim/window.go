package sim

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
)

var _ driver.Windows = (*Context)(nil)

// window is memory of a rank that the kernels of the communicator's other ranks reach.
type window struct {
	base  driver.Ptr
	bytes int64
}

// place tells where a buffer lies in a window: its offset from 1 on, or 0 outside.
func (x *window) place(p driver.Ptr) uint64 {
	if x == nil || p < x.base || p >= x.base+driver.Ptr(x.bytes) {
		return 0
	}
	return uint64(p-x.base) + 1
}

// WindowLimits are Config.Windows.
func (c *Context) WindowLimits(driver.Properties) driver.WindowLimits { return c.world.cfg.Windows }

// WindowMemAlloc maps memory that may reach other processes, rounded up to whole granules.
func (c *Context) WindowMemAlloc(bytes int64) (driver.Ptr, error) {
	bytes = (max(bytes, 1) + granularity - 1) / granularity * granularity
	h, err := c.MemCreate(bytes, driver.FileDescriptor)
	if err != nil {
		return 0, err
	}
	at, err := c.MemAddressReserve(bytes)
	if err == nil {
		err = c.MemMap(at, bytes, h)
	}
	if err == nil {
		err = c.MemSetAccess(at, bytes, c.ordinal)
	}
	return at, errors.Join(err, c.MemRelease(h))
}

// WindowMemFree frees memory of WindowMemAlloc.
func (c *Context) WindowMemFree(p driver.Ptr) error {
	base, bytes, err := c.MemGetAddressRange(p)
	if err != nil || base != p {
		return failNCCL("ncclMemFree", ncclInvalidArgument, "free %#x", p)
	}
	return errors.Join(c.MemUnmap(p, bytes), c.MemAddressFree(p, bytes))
}

// CommWindowRegister makes the communicator's only window. It requires memory of WindowMemAlloc, and an earlier
// collective.
func (c *Context) CommWindowRegister(h driver.Comm, p driver.Ptr, bytes int64) error {
	const call = "ncclCommWindowRegister"
	m, leave, err := c.enterComm(call, h)
	if err != nil {
		return err
	}
	defer leave()
	x := c.at(p)
	switch {
	case m.inProgress():
		return failNCCL(call, ncclInvalidArgument, "the previous operation is in progress")
	case c.capturing():
		return failNCCL(call, ncclInvalidUsage, "a stream of the device is being captured")
	case m.window != nil || m.begun == 0:
		return failNCCL(call, ncclInvalidUsage, "a second window, or one before the first collective")
	case x == nil || x.kind != mapped || x.base != p || bytes <= 0 || bytes > x.bytes:
		return failNCCL(call, ncclInvalidArgument, "%d bytes at %#x", bytes, p)
	}
	m.window = &window{p, bytes}
	m.busy = 1 + m.random.IntN(3)
	return nil // though it goes on, as 2.28.9 does
}

// capturing reports whether a stream of the device takes part in a capture.
func (c *Context) capturing() bool {
	for _, s := range c.streams {
		if s.capture != nil {
			return true
		}
	}
	return false
}

// CommWindow says that the window serves.
func (c *Context) CommWindow(h driver.Comm) (driver.WindowState, error) {
	const call = "ncclCommQueryProperties"
	m, leave, err := c.enterComm(call, h)
	if err != nil {
		return driver.WindowState{}, err
	}
	defer leave()
	return driver.WindowState{Made: m.window != nil && !m.inProgress(), Asked: true, Symmetric: true}, nil
}

// CommWindowDeregister ends the window, which no operation uses any more.
func (c *Context) CommWindowDeregister(h driver.Comm) error {
	const call = "ncclCommWindowDeregister"
	m, leave, err := c.enterComm(call, h)
	if err != nil {
		return err
	}
	defer leave()
	if m.inProgress() {
		return failNCCL(call, ncclInvalidArgument, "the previous operation is in progress")
	}
	if m.window == nil || m.running != nil || m.queued > 0 {
		return failNCCL(call, ncclInvalidUsage, "there is no window, or collectives use it")
	}
	m.window = nil
	return nil
}

// lies is the place of a collective's buffers in the window, for comparison with other ranks: NCCL's symmetric kernels
// assume that the buffers lie at the same place on every rank.
func (o *op) lies() (send, recv uint64) {
	if o.together.Kind == driver.AllToAll || o.together.Kind == driver.Exchange {
		return 0, 0
	}
	return o.comm.window.place(o.src), o.comm.window.place(o.dst)
}

// ended reports whether an abort ends the collective. With Config.Windows.Unabortable it does not end a collective in
// the window.
func (o *op) ended() bool {
	send, recv := o.lies()
	return o.comm.aborted && (send == 0 && recv == 0 || o.ctx.world.cfg.Windows.Unabortable == "")
}

// apart is an error where a rank's buffers lie at other places of the window than the buffers of this rank.
func (m *communicator) apart(o *op, rank int) error {
	send, recv := o.lies()
	theirs := m.board.sent(rank, o.turn, sentSend).Load()
	also := m.board.sent(rank, o.turn, sentRecv).Load()
	if send == theirs && recv == also {
		return nil
	}
	return fmt.Errorf("rank %d's buffers lie at %s and %s, rank %d's at %s and %s", m.rank, offset(send), offset(recv),
		rank, offset(theirs), offset(also))
}

func offset(place uint64) string {
	if place == 0 {
		return "no place of the window"
	}
	return fmt.Sprintf("offset %d", place-1)
}
