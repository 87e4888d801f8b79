package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"ovgen/runtime/driver"
)

// communicator is one rank's part of a communicator. Its collectives run one after the other.
type communicator struct {
	ctx         *Context
	ranks, rank int
	board       *board
	files       [2]*shared // of its data, taken in turn
	begun       uint64     // collectives
	running     *op
	queued      int // enqueued one by one, and not ended
	graphs      int // graphs, executables and launches in flight that hold it
	aborted     bool
	lost        bool   // a rank has gone, and its data with it
	readers     [2]int // of the data in its files: a rank, or everyRank
	random      *rand.Rand
	busy        int // the number of further questions that answer that the call before is in progress
	clocks      *clocks
	window      *window
}

// clocks are the knowledge of each rank before it began a collective, for each of two collectives.
type clocks [2][mostRanks]clock

// Codes of ncclResult_t that the simulator answers with.
const (
	ncclSystemError     = 2
	ncclInvalidArgument = 4
	ncclInvalidUsage    = 5
)

var ncclTexts = map[int]string{ncclSystemError: "unhandled system error", ncclInvalidArgument: "invalid argument",
	ncclInvalidUsage: "invalid usage"}

func failNCCL(call string, code int, format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), &driver.Status{Call: call, Code: code,
		Text: ncclTexts[code]})
}

// Collectives returns the device itself.
func (c *Context) Collectives() (driver.Collectives, error) { return c, nil }

// CommGetUniqueID makes the memory in which the ranks of a communicator meet.
func (c *Context) CommGetUniqueID() (driver.CommID, error) {
	const call = "ncclGetUniqueId"
	if err := c.enter(call); err != nil {
		return driver.CommID{}, err
	}
	defer c.leave()
	s, err := createShared(boardBytes)
	if err != nil {
		return driver.CommID{}, failNCCL(call, ncclSystemError, "%v", err)
	}
	c.boards = append(c.boards, s)
	return s.commID(), nil
}

// CommInitRank joins a communicator. The communicator is whole when all ranks have joined.
func (c *Context) CommInitRank(id driver.CommID, ranks, rank int) (driver.Comm, error) {
	const call = "ncclCommInitRankConfig"
	if err := c.enter(call); err != nil {
		return 0, err
	}
	defer c.leave()
	if ranks < 1 || ranks > mostRanks || rank < 0 || rank >= ranks {
		return 0, failNCCL(call, ncclInvalidArgument, "rank %d of %d", rank, ranks)
	}
	b, err := openBoard(id)
	if err != nil {
		return 0, failNCCL(call, ncclSystemError, "%v", err)
	}
	if !b.word(rank, rowJoined).CompareAndSwap(0, uint64(ranks)) {
		b.close()
		return 0, failNCCL(call, ncclInvalidUsage, "rank %d has joined already", rank)
	}
	w := c.world
	m := &communicator{ctx: c, ranks: ranks, rank: rank, board: b,
		random: rand.New(rand.NewPCG(w.cfg.Seed, uint64(rank)))}
	if m.clocks = w.clocks[b.id]; m.clocks == nil {
		m.clocks = &clocks{}
		w.clocks[b.id] = m.clocks
	}
	m.busy = m.random.IntN(3)
	h := driver.Comm(w.handle())
	c.comms[h] = m
	return h, driver.ErrInProgress
}

// communicator is the communicator of a handle.
func (c *Context) communicator(call string, h driver.Comm) (*communicator, error) {
	m := c.comms[h]
	if m == nil {
		return nil, failNCCL(call, ncclInvalidArgument, "communicator %#x", h)
	}
	return m, nil
}

// enterComm enters a call with a communicator, which NCCL allows to one thread at a time: another thread's call is
// refused.
func (c *Context) enterComm(call string, h driver.Comm) (m *communicator, leave func(), err error) {
	if _, calls := c.calling.LoadOrStore(h, call); calls {
		return nil, nil, failNCCL(call, ncclInvalidUsage, "another thread's call with the communicator goes on")
	}
	if err := c.enter(call); err != nil {
		c.calling.Delete(h)
		return nil, nil, err
	}
	leave = func() {
		c.leave()
		c.calling.Delete(h)
	}
	if m, err = c.communicator(call, h); err != nil {
		leave()
	}
	return m, leave, err
}

// inProgress reports whether the last call has not ended yet; a call ends after some questions.
func (m *communicator) inProgress() bool {
	for r := range m.ranks {
		if n := m.board.word(r, rowJoined).Load(); n != uint64(m.ranks) {
			return true
		}
	}
	return m.busy > 0
}

// CommGetAsyncError returns driver.ErrInProgress until the last call has ended.
func (c *Context) CommGetAsyncError(h driver.Comm) error {
	const call = "ncclCommGetAsyncError"
	m, leave, err := c.enterComm(call, h)
	if err != nil {
		return err
	}
	defer leave()
	if m.inProgress() {
		m.busy = max(m.busy-1, 0)
		return driver.ErrInProgress
	}
	return nil
}

// Collective enqueues a collective.
func (c *Context) Collective(d driver.CollectiveDesc, recv, send driver.Ptr, h driver.Comm, s driver.Stream) error {
	if err := d.Check(); err != nil {
		return err
	}
	call := "nccl " + string(d.Kind)
	m, leave, err := c.enterComm(call, h)
	if err != nil {
		return err
	}
	defer leave()
	if m.inProgress() {
		return failNCCL(call, ncclInvalidArgument, "the previous operation is in progress")
	}
	if m.aborted {
		return failNCCL(call, ncclInvalidUsage, "the communicator was aborted")
	}
	sent, got := d.Sizes(m.ranks)
	if outside := d.To < 0 || d.To >= m.ranks || d.From < 0 || d.From >= m.ranks; outside {
		return failNCCL(call, ncclInvalidArgument, "to rank %d, from rank %d of %d", d.To, d.From, m.ranks)
	}
	if d.Bytes < 0 || d.Kind.Sums() && (!d.Type.Valid() || d.Bytes%d.Type.Size() != 0) ||
		c.bytes(send, sent) == nil || c.bytes(recv, got) == nil {
		return failNCCL(call, ncclInvalidArgument, "%d bytes from %#x to %#x", d.Bytes, send, recv)
	}
	o, err := c.enqueue(call, s, &task{kind: collective, comm: m, together: d, src: send, dst: recv, bytes: got}, 1)
	if err != nil {
		return err
	}
	if o != nil {
		m.queued++
	}
	m.busy = m.random.IntN(3)
	return driver.ErrInProgress
}

// CommAbort ends the communicator's operations, with garbage where they write.
func (c *Context) CommAbort(h driver.Comm) error { return c.freeComm("ncclCommAbort", h, true) }

// CommDestroy waits for the communicator's operations.
func (c *Context) CommDestroy(h driver.Comm) error { return c.freeComm("ncclCommDestroy", h, false) }

func (c *Context) freeComm(call string, h driver.Comm, abort bool) error {
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	m, err := c.communicator(call, h)
	if err != nil {
		return err
	}
	m.aborted = m.aborted || abort
	c.world.wake()
	err = c.await(call, func() bool { return m.graphs == 0 && m.queued == 0 && m.running == nil })
	if err != nil {
		return err
	}
	delete(c.comms, h)
	m.close()
	return nil
}

func (m *communicator) close() {
	m.board.close()
	for _, f := range m.files {
		f.close()
	}
}

// holdComms adds by to the number of graphs that hold each communicator of the nodes.
func holdComms[N any](nodes []N, task func(N) *task, by int) {
	var held []*communicator
	for _, n := range nodes {
		if m := task(n).comm; m != nil && !slices.Contains(held, m) {
			held = append(held, m)
			m.graphs += by
		}
	}
}
