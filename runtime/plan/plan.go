package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/ipc"
)

// Plan is a host program made ready on all ranks for one shape. New, Bind and
// Close are collective; a plan is used by one goroutine at a time.
type Plan struct {
	group   *group.Group
	rank    int
	ranks   int
	hosts   int
	driver  driver.Driver
	program *Program
	shape   string
	chosen  string // by Tune: the schedule, and the reason
	id      int
	issue   func(*Queue)
	peers   []int // r+1, r+2, ..., of this rank's host

	main        *Stream
	bindable    []*Buffer // in the order of Bind's addresses
	staged      []*Buffer
	staging     driver.Ptr // memory of staging outside the arena; 0 where there is none
	inWindow    bool       // staging is memory of Group.Symmetric, else allocated by the plan
	collective  bool       // the plan has collectives
	counts      int        // the number of counts of uneven parts that Bind takes
	rows        int        // the sum that the counts must have; 0: any
	balanced    []int      // rows of each rank's part, where New knows the parts
	chunks      *chunking  // by the last Bind's counts, or balanced; nil for even parts, and before a Bind succeeded
	semaphores  []*semaphores
	packets     []*Packets
	streams     []*Stream
	products    []*Product
	kernels     []*Kernel
	trials      []func(driver.Driver, driver.Module, driver.Stream) error
	tried       int64                   // bytes that a trial allocates, at most
	tiles       []string                // kernels that differ by their tiles
	tile        string                  // the kernel to launch; empty where an estimate chooses
	summed      driver.Type             // element type of the collectives that add up
	collectives []driver.CollectiveDesc // of a run, each collective once
	module      driver.Module
	events      []driver.Event
	steps       []group.Step
	numbered    atomic.Pointer[[]group.Step] // steps, once all have their numbers

	turn     chan struct{} // held by the goroutine that uses the plan
	closed   bool          // turn guards this field and all that follow
	closeErr error
	bound    bool
	met      bool   // the peers know this rank's shared memory and counts, and this rank knows theirs
	next     target // the target of a Bind; kept, so that a local Bind makes no allocation
	exports  []*ipc.Export
	imports  [][]*ipc.Import
	graphs   graphs
	queue    Queue
	run      group.Run // the last run that was enqueued outside of captures
	ran      bool
}

// Base is the plan without the fields of its package.
func (p *Plan) Base() *Plan { return p }

// perHost is the number of ranks of each host.
func (p *Plan) perHost() int { return p.ranks / p.hosts }

// Rank of this process in the group.
func (p *Plan) Rank() int { return p.rank }

// Size is the number of ranks.
func (p *Plan) Size() int { return p.ranks }

// Group is the group that the plan runs in.
func (p *Plan) Group() *group.Group { return p.group }

// Program is the program that the plan was made of.
func (p *Plan) Program() *Program { return p.program }

// Name is the program's name, for the group's errors.
func (p *Plan) Name() string { return p.program.Name }

// Steps of one run, for the group's errors; none until Finish has numbered them.
func (p *Plan) Steps() []group.Step {
	if list := p.numbered.Load(); list != nil {
		return *list
	}
	return nil
}

// Shape is the shape that New was called with, as text.
func (p *Plan) Shape() string { return p.shape }

// String is "plan 3 (allgatherlinear)".
func (p *Plan) String() string {
	if !p.made() {
		return "a plan"
	}
	return fmt.Sprintf("plan %d (%s)", p.id, p.program.Name)
}

// made reports whether New has made the plan.
func (p *Plan) made() bool { return p != nil && p.group != nil }

// note adds a step during the dry run.
func (p *Plan) note(s *Stream, wait bool, peers []int, text string) {
	p.steps = append(p.steps, group.Step{Number: p.queue.step, Stream: s.String(), Wait: wait,
		Peers: slices.Clone(peers), Text: text})
}

// enter takes the plan's turn for one call; leave gives it back.
func (p *Plan) enter() error {
	if !p.made() {
		return ErrUnmade
	}
	if err := p.group.Alive(); err != nil {
		return err
	}
	select {
	case p.turn <- struct{}{}:
	default:
		return ErrBusy
	}
	if p.closed {
		p.leave()
		return ErrClosed
	}
	return nil
}

func (p *Plan) leave() { <-p.turn }

// inTurn does one call of the plan's user in its turn, and says in its error which call.
func (p *Plan) inTurn(what string, call func() error) error {
	err := p.enter()
	if err == nil {
		defer p.leave()
		err = call()
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", what, p, err)
	}
	return err
}

// Enqueue issues one run on the caller's stream: after everything that the caller has enqueued there, and before
// everything that the caller enqueues next. The host does not wait. The stream may be captured into a graph of the
// caller. This graph must not be launched after Close of this plan, after the group's Done, or after a Bind of memory
// that peers use or of other counts. After a local Bind it may still be launched, and uses the memory that it was
// captured with. The graph keeps the priorities of the plan's streams if it is instantiated with
// CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY. Every rank of the group enqueues a run.
//
// The group's Done and Err report a failure after Enqueue, and a run that has not drained within Config.RunTimeout
// aborts the group. The group does not see the launches of a captured graph: Group.Watch, called after each launch,
// bounds them. Errors wrap ErrNotBound, ErrBusy, ErrClosed, ErrEager in a capture of a program that must not be
// captured, group.ErrClosed or *group.AbortError.
func (p *Plan) Enqueue(s driver.Stream) error {
	return p.inTurn("enqueue", func() error { return p.eager(nil, s) })
}

// eager issues the run call by call.
func (p *Plan) eager(ctx context.Context, s driver.Stream) error {
	if !p.bound {
		return ErrNotBound
	}
	if err := p.share(ctx, s); err != nil {
		return err
	}
	run, err := p.group.Begin(ctx, p.id, s)
	if err != nil {
		return err
	}
	if p.program.Eager && run.Capturing() {
		return p.end(&run, ErrEager)
	}
	p.queue.start(s)
	p.issue(&p.queue)
	return p.end(&run, p.queue.err)
}

// Replay is Enqueue by one launch of the graph that the plan keeps for these buffers: the host spends a few
// microseconds, for any number of ranks. A collective Bind captures the graph. After a local Bind, the first Replay
// with buffers that the plan keeps no graph for waits for the runs in flight and captures one. Its kernels have the
// priorities of the plan's streams, and not the priority of s. The stream must not be in capture. A program that must
// not be captured has no graph: Replay returns ErrEager.
func (p *Plan) Replay(s driver.Stream) error {
	return p.inTurn("replay", func() error { return p.replay(nil, s) })
}

// Run replays the plan's graph on a stream of the group, or enqueues a program that must not be captured, and waits for
// the run. If ctx ends first, or has no deadline and Config.RunTimeout passes, the group is aborted on all ranks, since
// the peers can't be left waiting. The *group.AbortError says which rank waited for which. Other errors are Enqueue's.
func (p *Plan) Run(ctx context.Context) error {
	return p.inTurn("run", func() error {
		once := p.replay
		if p.program.Eager {
			once = p.eager
		}
		err := once(ctx, p.main.own)
		if err == nil {
			err = p.group.Wait(&p.run)
		}
		return err
	})
}

func (p *Plan) replay(ctx context.Context, s driver.Stream) error {
	if p.program.Eager {
		return ErrEager
	}
	if !p.bound {
		return ErrNotBound
	}
	graph, err := p.ownGraph(ctx, s)
	if err != nil {
		return err
	}
	run, err := p.group.Begin(ctx, p.id, s)
	if err != nil {
		return err
	}
	if run.Capturing() {
		return p.end(&run, errCapturing)
	}
	return p.end(&run, graph.Launch(s))
}

// end closes the run. If issuing it failed, peers may wait for the missing steps, so end aborts the group; a capture
// that failed has started nothing.
func (p *Plan) end(run *group.Run, issued error) error {
	err := errors.Join(issued, p.group.End(run))
	if run.Capturing() {
		return err
	}
	p.run, p.ran = *run, true
	if err != nil {
		p.group.Abort(fmt.Errorf("rank %d: %s: %w", p.Rank(), p, err))
	}
	return err
}

// drain waits for all runs of the group on this rank, by an empty run. Calls
// that load, open or instantiate may follow; they must not meet a waiting stream.
func (p *Plan) drain(ctx context.Context) error {
	return p.group.Drain(ctx, p.id, p.main.own)
}
