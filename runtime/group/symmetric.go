package group

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ovgen/runtime/driver"
)

// symmetric is this rank's memory that NCCL's kernels reach on every rank: one allocation, with one window of the
// communicator. All ranks lay it out alike.
type symmetric struct {
	windows     driver.Windows
	base        driver.Ptr
	bytes       int64
	unabortable string // why an abort does not end its collectives
	// The collectives of symmetric memory run on a separate stream: NCCL before 2.30.7 lets one begin before the kernel
	// ahead of it on its stream has ended.
	stream driver.Stream
	events [2]driver.Event

	mu     sync.Mutex
	used   int64
	staged int64 // bytes at the end, for the plan that stages the most
}

// ErrNoSymmetric says that a group has no symmetric memory.
var ErrNoSymmetric = errors.New("the group has no symmetric memory (set Config.Symmetric on all ranks)")

// ErrNotSymmetric says that NCCL makes no symmetric memory for these ranks.
var ErrNotSymmetric = errors.New("NCCL makes no memory here that its kernels reach on all ranks")

// UnabortableError refuses symmetric memory whose collectives an abort would not end.
type UnabortableError struct{ Why string }

// Error names the way out.
func (e *UnabortableError) Error() string {
	return fmt.Sprintf("an abort would not end collectives of symmetric memory: %s; or set Config.Unabortable, and "+
		"end the processes of a group that is aborted", e.Why)
}

// SymmetricError says that the symmetric memory is used up.
type SymmetricError struct{ Want, Free, Bytes int64 }

// Error names the setting to raise.
func (e *SymmetricError) Error() string {
	return fmt.Sprintf("take %d bytes of symmetric memory: %d of %d are free (set Config.Symmetric to at least %d on "+
		"all ranks)", e.Want, e.Free, e.Bytes, e.Bytes+e.Want-e.Free)
}

// symmetricUnit is the alignment of the addresses that Symmetric returns: NCCL's kernels then move whole vectors.
const symmetricUnit = 512

// Symmetric takes memory that NCCL's kernels reach on every rank, from the Config.Symmetric bytes of the group; it
// lives until the group is closed. All ranks ask for the same sizes and make the same plans, in one common order, since
// plans by NCCL alone stage in this memory too, where there is room. NCCL's symmetric kernels run collectives between
// such buffers with no intermediate copy; if one of the buffers lies elsewhere, NCCL's ordinary kernels run the
// collective. A Bind of such memory is collective, and refuses memory that does not lie at the same place on all ranks.
// The error is ErrNoSymmetric or a *SymmetricError.
func (g *Group) Symmetric(bytes int64) (driver.Ptr, error) {
	s := &g.symmetric
	if s.base == 0 {
		return 0, ErrNoSymmetric
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes <= 0 {
		return 0, fmt.Errorf("take %d bytes of symmetric memory", bytes)
	}
	free := s.bytes - s.staged - s.used
	if bytes > free {
		return 0, &SymmetricError{bytes, free, s.bytes}
	}
	at := s.base + driver.Ptr(s.used)
	s.used += min(free, (bytes+symmetricUnit-1)/symmetricUnit*symmetricUnit)
	return at, nil
}

// StageSymmetric returns the address at which a plan stages the given bytes: at the end of the symmetric memory. All
// plans share this staging, since their runs follow one another. It returns 0 where the group has no symmetric memory,
// or too little of it is left.
func (g *Group) StageSymmetric(bytes int64) driver.Ptr {
	s := &g.symmetric
	if s.base == 0 {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := (s.bytes - bytes) / symmetricUnit * symmetricUnit
	if at < s.used || bytes > s.bytes {
		return 0
	}
	s.staged = max(s.staged, s.bytes-at)
	return s.base + driver.Ptr(at)
}

// SymmetricOffset returns the offset of an address in the symmetric memory; ok is false for an address outside of it.
func (g *Group) SymmetricOffset(p driver.Ptr) (offset int64, ok bool) {
	if !g.symmetric.holds(p) {
		return 0, false
	}
	return int64(p - g.symmetric.base), true
}

func (s *symmetric) holds(p driver.Ptr) bool { return p >= s.base && p < s.base+driver.Ptr(s.bytes) }

// SymmetricBytes is the size of the group's symmetric memory, 0 where it has none.
func (g *Group) SymmetricBytes() int64 { return g.symmetric.bytes }

// makeSymmetric makes the memory, the communicator and its window, where Config.Symmetric asks for it: collectively.
func (g *Group) makeSymmetric(ctx context.Context) error {
	if g.config.Symmetric == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.config.JoinTimeout)
	defer cancel()
	const what = "make symmetric memory"
	id, err := g.allocateSymmetric()
	all, err := g.meet(ctx, what, id, err)
	if err != nil {
		return err
	}
	if err := g.Connect(ctx, all); err != nil {
		return err
	}
	if err := g.tryWindow(ctx); err != nil { // NCCL wants a collective before the registration
		return err
	}
	err = g.register(ctx)
	if _, err = g.meet(ctx, "register symmetric memory", nil, err); err != nil {
		return err
	}
	if err := g.tryWindow(ctx); err != nil { // NCCL makes connections in the window's first collective
		return err
	}
	_, err = g.meet(ctx, "try symmetric memory", nil, nil)
	return err
}

func (g *Group) meet(ctx context.Context, what string, blob []byte, err error) ([][]byte, error) {
	return agreed(what, blob, err, func(mine []byte) ([][]byte, error) { return g.Gather(ctx, what, mine) })
}

// allocateSymmetric takes this rank's stream, events and memory. On the first rank it returns the communicator's id.
func (g *Group) allocateSymmetric() (id []byte, err error) {
	if g.Hosts() > 1 || g.apart {
		return nil, fmt.Errorf("%w: they are not all of one host that reach each other's memory", ErrNotSymmetric)
	}
	if id, err = g.CommunicatorID(); err != nil {
		return nil, err
	}
	s := &g.symmetric
	windows, ok := g.communicator.library.(driver.Windows)
	if !ok {
		return nil, fmt.Errorf("%w: driver %s has no windows", ErrNotSymmetric, g.drv.Name())
	}
	limits := windows.WindowLimits(g.drv.Properties())
	switch {
	case limits.Missing != "":
		return nil, fmt.Errorf("%w: %s", ErrNotSymmetric, limits.Missing)
	case limits.Unabortable != "" && !g.config.Unabortable:
		return nil, &UnabortableError{limits.Unabortable}
	}
	s.windows, s.unabortable = windows, limits.Unabortable
	if s.stream, err = g.drv.StreamCreateWithPriority(driver.High); err != nil {
		return nil, err
	}
	for i := range s.events {
		if s.events[i], err = g.drv.EventCreate(false); err != nil {
			return nil, err
		}
	}
	if s.base, err = windows.WindowMemAlloc(g.config.Symmetric); err != nil {
		return nil, fmt.Errorf("allocate %d bytes: %w", g.config.Symmetric, err)
	}
	s.bytes = g.config.Symmetric
	return id, nil
}

// register makes the window and checks that NCCL accepts it as symmetric.
func (g *Group) register(ctx context.Context) error {
	c, s := &g.communicator, &g.symmetric
	c.mu.Lock()
	err := s.windows.CommWindowRegister(c.comm, s.base, s.bytes)
	c.mu.Unlock()
	if err == nil || errors.Is(err, driver.ErrInProgress) {
		err = g.settled(ctx)
	}
	if err != nil {
		return g.broken(fmt.Errorf("register symmetric memory: %w", err))
	}
	state, err := s.windows.CommWindow(c.comm)
	switch {
	case err != nil:
		return err
	case !state.Made || state.Asked && !state.Symmetric:
		return fmt.Errorf("%w (do its devices reach each other's memory?)", ErrNotSymmetric)
	}
	c.window = s.windows
	g.choice += fmt.Sprintf("; %d bytes of symmetric memory, ", s.bytes)
	if state.Asked {
		g.choice += "which NCCL says it reaches on all ranks"
	} else {
		g.choice += "which this NCCL does not say whether it reaches on all ranks: by the links it should"
	}
	if s.unabortable != "" {
		g.choice += "; an abort does not end its collectives: " + s.unabortable
	}
	return nil
}

// tries are the collectives that have symmetric kernels.
var tries = []driver.CollectiveDesc{
	{Kind: driver.AllGather, Bytes: symmetricUnit, Type: driver.FP32},
	{Kind: driver.ReduceScatter, Bytes: symmetricUnit, Type: driver.FP32},
	{Kind: driver.AllReduce, Bytes: symmetricUnit, Type: driver.FP32},
}

// tryWindow runs each collective of tries once, at the beginning of the symmetric memory.
func (g *Group) tryWindow(ctx context.Context) error {
	recv := g.symmetric.base + driver.Ptr(g.Size()*symmetricUnit)
	return g.Rehearse(ctx, tries, recv, g.symmetric.base, g.runs.side)
}

// leastSymmetric is the bytes that tryWindow needs.
func leastSymmetric(ranks int) int64 { return int64(2 * ranks * symmetricUnit) }

// behind makes a later stream wait for the work enqueued on an earlier one.
func behind(d driver.Driver, later, earlier driver.Stream, e driver.Event) error {
	if err := d.EventRecordWithFlags(e, earlier, 0); err != nil {
		return err
	}
	return d.StreamWaitEvent(later, e, 0)
}

// free frees the stream, the events and, once the communicator is freed, the memory.
func (s *symmetric) free(d driver.Driver, freed bool) error {
	var errs []error
	for _, e := range s.events {
		if e != 0 {
			errs = append(errs, d.EventDestroy(e))
		}
	}
	if s.stream != 0 {
		errs = append(errs, d.StreamDestroy(s.stream))
	}
	if s.base != 0 && freed {
		errs = append(errs, s.windows.WindowMemFree(s.base))
	}
	return errors.Join(errs...)
}
