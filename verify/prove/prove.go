package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Options of a proof. Zero values are the defaults.
type Options struct {
	Ranks []int // mesh sizes; 1 to 8 by default
	Runs  int   // consecutive runs; the default and the least: one more than the buffers' period: 2, or 3 with halves
	// Done, where there is one, is called for each mesh size when it is proven.
	Done func(Size)
}

// Report is the result of a proof.
type Report struct {
	Program string
	Sizes   []Size
	// Stamp is a hash (SHA-256, hexadecimal) of the prover's version, its properties, and
	// the model and operations of every rank of every size.
	Stamp string
}

// InOrder is the assumption on which a program rests that is serial-safe only when enqueued one by one. CUDA does not
// promise it for different streams.
const InOrder = "it rests on queues that start operations in the order of enqueueing"

// Size is the result for one mesh size.
type Size struct {
	Ranks, Runs int
	Operations  int // of one run of all ranks
	Time        time.Duration
	// Captured is why the program is not serial-safe when replayed as a graph, nil
	// where it is. Such a program is emitted without replay, and rests on InOrder.
	Captured *Counterexample
	Warnings []Warning
	// Around: each rank uses memory of the ranks before and after it, and of no other peer.
	Around bool
}

// Replay reports whether the program is serial-safe at all sizes when replayed as a graph.
func (r *Report) Replay() bool {
	for _, s := range r.Sizes {
		if s.Captured != nil {
			return false
		}
	}
	return true
}

// String is "AllGatherLinear: proven, D = 1..8, 1234 operations, 0.12 s", and its
// restrictions.
func (r *Report) String() string {
	var operations, warnings int
	var spent time.Duration
	for _, s := range r.Sizes {
		operations += s.Operations
		spent += s.Time
		warnings += len(s.Warnings)
	}
	text := fmt.Sprintf("%s: proven, D = %s, %d operations, %.2f s", r.Program, r.Ranks(), operations, spent.Seconds())
	if !r.Replay() {
		text += ", without replay: " + InOrder
	}
	if warnings > 0 {
		text += fmt.Sprintf(", %d warnings", warnings)
	}
	return text
}

// Ranks is the mesh sizes as text: 1..8.
func (r *Report) Ranks() string {
	var list []int
	for _, s := range r.Sizes {
		list = append(list, s.Ranks)
	}
	return Ranges(list)
}

// Ranges writes 2 3 4 8 as 2..4, 8.
func Ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := fmt.Sprint(list[i])
		if j > i {
			part = fmt.Sprintf("%d..%d", list[i], list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// Schedule proves a program for each mesh size, smallest first. The error is a
// *Counterexample where the program is at fault, and a *schedule.FieldError where a
// constant of the schedule can't be cut for one of the sizes.
func Schedule(ctx context.Context, p *hostir.Program, o Options) (*Report, error) {
	if len(o.Ranks) == 0 {
		o.Ranks = []int{1, 2, 3, 4, 5, 6, 7, 8}
	}
	if err := divisible(p, o.Ranks); err != nil {
		return nil, err
	}
	report, stamp := &Report{Program: p.Name}, newStamp()
	for _, d := range o.Ranks {
		size, err := mesh(ctx, p, d, o.Runs, stamp)
		if err != nil {
			return nil, err
		}
		report.Sizes = append(report.Sizes, *size)
		if o.Done != nil {
			o.Done(*size)
		}
	}
	report.Stamp = stamp.sum()
	return report, nil
}

// mesh proves a program for one number of ranks, on each number of hosts that they may be on.
func mesh(ctx context.Context, p *hostir.Program, d, runs int, stamp stamp) (size *Size, err error) {
	for _, hosts := range p.HostsOf(d) {
		one, err := meshOn(ctx, p, d, hosts, runs, stamp)
		if err != nil && hosts > 1 {
			err = fmt.Errorf("on %d hosts: %w", hosts, err)
		}
		if err != nil {
			return nil, err
		}
		size = size.and(one)
	}
	return size, nil
}

// and joins two results of one mesh size.
func (s *Size) and(other *Size) *Size {
	if s == nil {
		return other
	}
	s.Operations += other.Operations
	s.Around = s.Around && other.Around
	s.Time += other.Time
	if s.Captured == nil {
		s.Captured = other.Captured
	}
	s.Warnings = append(s.Warnings, other.Warnings...)
	return s
}

// meshOn proves a program for one mesh. A program with uneven parts is proven for several counts.
func meshOn(ctx context.Context, p *hostir.Program, d, hosts, runs int, stamp stamp) (*Size, error) {
	m, lists, err := unroll(p, d, hosts)
	if err != nil {
		return nil, err
	}
	size, err := Lists(ctx, m, lists, runs)
	if err != nil {
		return nil, err
	}
	stamp.add(m, lists)
	for _, counts := range samples(p, d)[1:] {
		c := shape(p, d, counts, sizes{2, 3, 5, 2}, 2)
		if p.OverHosts() {
			c.Hosts = hosts
		}
		m, lists, err := at(p, c)
		if err != nil {
			return nil, err
		}
		other, err := Lists(ctx, m, lists, runs)
		if err != nil {
			return nil, fmt.Errorf("with counts %v: %w", counts, err)
		}
		stamp.add(m, lists)
		other.Warnings = nil
		size = size.and(other)
	}
	return size, nil
}

// Lists proves the operations of one run of all ranks, unrolled or recorded. Zero runs means the least number of runs
// that stand for all.
func Lists(ctx context.Context, m Model, lists [][]ops.Op, runs int) (*Size, error) {
	begun := time.Now()
	least := m.leastRuns()
	if runs == 0 {
		runs = least
	}
	if runs < least || len(lists) == 0 {
		return nil, fmt.Errorf("prove %s: %d runs of %d ranks: a proof needs at least %d runs",
			m.Program, runs, len(lists), least)
	}
	if err := ops.WellFormed(lists); err != nil {
		return nil, fmt.Errorf("prove %s: %w", m.Program, err)
	}
	p := &proof{graph: build(m, lists, runs, false)}
	if err := p.check(ctx, checks); err != nil {
		return nil, err
	}
	stuck := p
	if p.exchanges() {
		stuck = &proof{graph: build(m, lists, runs, true)}
		if err := stuck.check(ctx, stuckChecks); err != nil {
			return nil, err
		}
	}
	if c := stuck.serial(eager); c != nil {
		return nil, c
	}
	size := &Size{Ranks: len(lists), Runs: runs, Captured: stuck.serial(captured), Warnings: p.warnings(),
		Around: around(lists)}
	if size.Captured != nil {
		if fields := p.spinning(); len(fields) > 0 {
			return nil, size.Captured.spinning(fields)
		}
	}
	for _, list := range lists {
		size.Operations += len(list)
	}
	size.Time = time.Since(begun)
	return size, nil
}

// proof is the state of a proof under way.
type proof struct {
	*graph
	*observed
}

// check runs the checks in their order.
func (p *proof) check(ctx context.Context, list []func(*proof) *Counterexample) error {
	for _, check := range list {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("prove %s for D = %d: %w", p.model.Program, len(p.lists), err)
		}
		if c := check(p); c != nil {
			return c
		}
	}
	return nil
}

// exchanges reports whether a rank exchanges with others.
func (p *proof) exchanges() bool {
	return slices.ContainsFunc(p.lists, func(list []ops.Op) bool {
		return slices.ContainsFunc(list, func(o ops.Op) bool { return o.Form == exchange })
	})
}

// stuckChecks are the checks of the second graph, in which a sender waits for its receiver: no execution
// gets stuck there. The other checks hold in it as well, since it has all edges of the first.
var stuckChecks = []func(*proof) *Counterexample{(*proof).matching, (*proof).deadlock}

// checks, in order: each may rest on the ones before it.
var checks = []func(*proof) *Counterexample{
	(*proof).events,
	(*proof).bounds,
	(*proof).drains,
	(*proof).signals,
	(*proof).blocks,
	(*proof).landings,
	(*proof).resets,
	(*proof).remoteWrites,
	(*proof).allocations,
	(*proof).bracket,
	(*proof).agreement,
	(*proof).balance,
	(*proof).matching,
	(*proof).deadlock,
	(*proof).inTurn,
	(*proof).alternation,
	(*proof).rest,
	(*proof).window,
	(*proof).races,
	(*proof).contents,
}
