package cost

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Case is the program, machine and sizes of a prediction.
type Case struct {
	Ranks       int
	Hosts       int // that the ranks are on, of a program over hosts; 0 is one
	M, K, N     int64
	ElementSize int64
	// Extents of other symbols, and counts of uneven chunks.
	Extents map[string]int64
	Counts  []int64
	// Eager runs are enqueued operation by operation, others replay a graph.
	Eager bool
	// Gated leaves the host's time out: everything is enqueued before the ranks start.
	Gated bool
}

// Prediction is one run as the model sees it. Times are in microseconds.
type Prediction struct {
	Machine *Machine
	Case    Case
	// Time of the whole run, on the slowest rank; Pure is the time of its products alone,
	// each whole.
	Time, Pure float64
	// Slowest is that rank. Its time is the sum of: Products, while one runs; and
	// while none does, Network, while it exchanges with another host; Link, while bytes are on the way to or from
	// it by its own copies and sums; Memory, while another copy or sum runs; Latency, the rest.
	Slowest                                  int
	Products, Network, Link, Memory, Latency float64
	// LinkBound is the time of its bytes at the full rate of the busier direction, NetworkBound that of the bytes
	// that it exchanges with other hosts.
	LinkBound, NetworkBound float64
	Limit                   Limit
	Spans                   []Span
}

// Limit is the resource that limits a run.
type Limit string

// Limits.
const (
	ByCompute Limit = "compute"
	ByLink    Limit = "link"
	ByNetwork Limit = "network"
	ByLatency Limit = "latency"
)

// near is how far above the larger bound of compute and link a run may be for that
// bound to be its limit.
const near = 1.25

// Efficiency is pure over whole.
func (p *Prediction) Efficiency() float64 { return p.Pure / p.Time }

// Exposed is the communication that no product hides.
func (p *Prediction) Exposed() float64 { return p.Network + p.Link + p.Memory + p.Latency }

// Beside is the time of the products that run beside the network: of all hosts' rows but one's, since those of the
// last to arrive, or to leave, have none beside them. The network hides where it takes no longer.
func (p *Prediction) Beside() float64 { return p.Pure - p.Pure/float64(max(p.Case.Hosts, 1)) }

// OneHost is the least time of the same layer on one host: that of all products on its ranks, and nothing else. Several
// hosts that take no less are not worth it.
func (p *Prediction) OneHost() float64 { return p.Pure * float64(max(p.Case.Hosts, 1)) }

// Predict runs a program for a case.
func Predict(p *hostir.Program, c Case, m *Machine) (*Prediction, error) {
	if err := c.Check(p); err != nil {
		return nil, fmt.Errorf("predict %s: %w", p.Name, err)
	}
	if m.Rate[c.ElementSize] == 0 {
		return nil, fmt.Errorf("predict %s: %s has no rate for elements of %d bytes", p.Name, m.Name, c.ElementSize)
	}
	lists := make([][]ops.Op, c.Ranks)
	for r := range lists {
		var err error
		lists[r], err = ops.Unroll(p, ops.Case{Ranks: c.Ranks, Rank: r, Hosts: c.Hosts, M: c.M, K: c.K, N: c.N,
			ElementSize: c.ElementSize, Extents: c.Extents, Counts: c.Counts})
		if err != nil {
			return nil, fmt.Errorf("predict: %w", err)
		}
	}
	out, err := Run(lists, c, m, func(stream string) int { return priority(p, stream) })
	if err != nil {
		return nil, fmt.Errorf("predict %s: %w", p.Name, err)
	}
	return out, nil
}

// falls is how many streams have priorities of their own where they fall from 1 on.
const falls = 5

// priority of a stream, by the program's sets: above the streams that yield to it.
func priority(p *hostir.Program, stream string) int {
	set, index, _ := strings.Cut(strings.TrimSuffix(stream, "]"), "[")
	for _, s := range p.Streams {
		switch {
		case s.Name != set:
		case s.High:
			return 1
		case s.Falling:
			i, _ := strconv.Atoi(index)
			return -min(i, falls)
		}
	}
	return math.MinInt
}

// Check that the case is one that New would take.
func (c Case) Check(p *hostir.Program) error {
	if c.Ranks < 1 {
		return fmt.Errorf("%d ranks: at least 1", c.Ranks)
	}
	if c.Hosts > 1 && !slices.Contains(p.HostsOf(c.Ranks), c.Hosts) {
		return fmt.Errorf("%d ranks on %d hosts: the schedule takes %v", c.Ranks, c.Hosts, p.HostsOf(c.Ranks))
	}
	env := hostir.Env{"M": c.M, "K": c.K, "N": c.N, "D": int64(c.Ranks)}
	for name, x := range c.Extents {
		env[name] = x
	}
	if err := constants(p, env); err != nil {
		return err
	}
	for _, name := range Symbols(p) {
		switch x, given := env[name]; {
		case !given:
			return fmt.Errorf("it needs the extent %s", name)
		case x < 1:
			return fmt.Errorf("%s is %d: it must be positive", name, x)
		}
	}
	for _, d := range p.Checks {
		x, err := extent(d.Extent).Eval(env)
		if err != nil {
			return err
		}
		if d.With != "" {
			y, err := extent(d.With).Eval(env)
			if err != nil {
				return err
			}
			if by := d.Divisor(int64(c.Ranks), env["W"]); !d.Holds(x, y, int64(c.Ranks), env["W"]) {
				return fmt.Errorf("%s times %s is %d times %d: it must be a multiple of %s", d.Extent, d.With, x, y,
					multipleOf(d, by))
			}
			continue
		}
		if by := d.Divisor(int64(c.Ranks), env["W"]); by < 1 || x%by != 0 {
			return fmt.Errorf("%s: it must be a multiple of %s", named(d.Extent, x), multipleOf(d, by))
		}
	}
	return nil
}

// constants refuses another value for a symbol than the schedule has as a constant.
func constants(p *hostir.Program, env hostir.Env) error {
	values := p.Schedule.Constants()
	for _, symbol := range slices.Sorted(maps.Keys(values)) {
		if x, n := env[string(symbol)], values[symbol]; x != 0 && x != n {
			return fmt.Errorf("%s is %d, and the schedule has the constant %d for it (leave it out)", symbol, x, n)
		}
	}
	return nil
}

// extent is a symbol or constant as an expression.
func extent(e schedule.Extent) hostir.Expr {
	if n, err := strconv.ParseInt(string(e), 10, 64); err == nil {
		return hostir.Const(n)
	}
	return hostir.Var(string(e))
}

// named is "M is 4100", or of a constant "the extent 4100".
func named(e schedule.Extent, value int64) string {
	if string(e) == strconv.FormatInt(value, 10) {
		return "the extent " + string(e)
	}
	return fmt.Sprintf("%s is %d", e, value)
}

// multipleOf is a divisor in words: "8 times the ranks, 32".
func multipleOf(d hostir.Divide, by int64) string {
	switch {
	case d.By == schedule.D && d.Times > 1:
		return fmt.Sprintf("%d times the ranks, %d", d.Times, by)
	case d.By == schedule.D:
		return fmt.Sprintf("the ranks, %d", by)
	}
	return strconv.FormatInt(by, 10)
}

// Symbols that the tensors of a program are extended by, D left out.
func Symbols(p *hostir.Program) []string {
	var list []string
	add := func(e schedule.Extent) {
		name := string(e)
		if name != "D" && strings.Trim(name, "0123456789") != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, t := range p.Schedule.Tensors {
		for _, a := range t.Axes {
			add(a.Extent)
			for _, s := range a.Outer {
				add(s.Most)
			}
		}
	}
	return list
}

// Run simulates the lists of all ranks. priority ranks the streams.
func Run(lists [][]ops.Op, c Case, m *Machine, priority func(stream string) int) (*Prediction, error) {
	lists = slices.Clone(lists)
	for r := range lists {
		lists[r] = apart(lists[r])
	}
	all := whole(lists[0], 0, c.ElementSize)
	s := &simulation{m: m, ranks: len(lists), l: m.Replayed, element: c.ElementSize, slow: m.slowdown(all),
		words: map[ops.Loc]uint32{}, waiting: map[ops.Loc][]func(){}, messages: map[[2]int][]message{}}
	if c.Eager {
		s.l = m.Eager
	}
	s.links, s.nics = links{engine: &s.engine, rate: m.Link}, links{engine: &s.engine, rate: m.Network.Rate}
	for r, list := range lists {
		s.add(r, list, m.enqueued(list, c), priority)
	}
	if err := s.play(); err != nil {
		return nil, err
	}
	out := &Prediction{Machine: m, Case: c, Pure: m.pure(all, s.slow), Spans: s.spans}
	if !c.Gated && len(all) > 0 {
		out.Pure += m.Host.Product
	}
	for _, st := range s.streams {
		if st.rank.end > out.Time {
			out.Time, out.Slowest = st.rank.end, st.rank.number
		}
	}
	out.account(lists[out.Slowest])
	return out, nil
}

// enqueued is when the host has enqueued each operation.
func (m *Machine) enqueued(list []ops.Op, c Case) []float64 {
	h := m.Host
	times := make([]float64, len(list))
	if c.Gated {
		return times
	}
	var now float64
	var last ops.Op
	for i, o := range list {
		if c.Eager && o.Kind == ops.Collective {
			now += m.NCCL.Host
		} else if c.Eager {
			now += h.of(o, last)
		} else {
			now = h.Graph
		}
		times[i], last = now, o
	}
	return times
}

// of is the time of enqueueing an operation after another.
func (h HostTimes) of(o, last ops.Op) float64 {
	switch {
	case o.Part > 0: // the launch's
		return 0
	case o.Kind == ops.Record || o.Kind == ops.WaitEvent:
		return h.Event
	case o.Kind == ops.After || o.Kind == ops.Done:
		return 0
	case o.Kind == ops.Product:
		return h.Product
	case o.Kernel != "" && o.Kernel == last.Kernel && o.Step == last.Step:
		return 0
	case o.Kernel != "", o.Kind == ops.Call:
		return h.Kernel
	case o.Kind == ops.Copy:
		return h.Copy
	}
	return h.Batch
}
