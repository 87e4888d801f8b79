package cost

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Case is the sizes of a prediction, and how runs are enqueued.
type Case struct {
	ops.Case
	// Eager runs are enqueued operation by operation; other runs replay a graph.
	Eager bool
	// Gated leaves the host's time out: all operations are enqueued before the ranks start.
	Gated bool
}

// Prediction is one run as the model sees it. Times are in microseconds.
type Prediction struct {
	Machine *Machine
	Case    Case
	// Time is the time of the whole run, on the slowest rank; Pure is the time of its products alone, each whole.
	Time, Pure float64
	// Slowest is that rank. Its time is a sum: Products, while a product runs; and while none runs, Network, while it
	// exchanges with another host; Link, while its copies and sums move bytes to or from it over a link; Memory, while
	// another copy or sum runs; and Latency, the rest.
	Slowest                                  int
	Products, Network, Link, Memory, Latency float64
	// LinkBound is the time of its bytes at the full rate of the busier direction. NetworkBound is the time of the
	// bytes that it exchanges with other hosts.
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

// near is the factor above the larger bound of compute and link up to which that bound is a run's limit.
const near = 1.25

// Efficiency is pure over whole.
func (p *Prediction) Efficiency() float64 { return p.Pure / p.Time }

// Exposed is the communication that no product hides.
func (p *Prediction) Exposed() float64 { return p.Network + p.Link + p.Memory + p.Latency }

// Beside is the time of the products that run while the network works: the products of the rows of all hosts but the
// last. The network is hidden if it takes no longer.
func (p *Prediction) Beside() float64 { return p.Pure - p.Pure/float64(max(p.Case.Hosts, 1)) }

// OneHost is the least time of the same layer on one host, where only products take time. Several hosts that take no
// less are not worth it.
func (p *Prediction) OneHost() float64 { return p.Pure * float64(max(p.Case.Hosts, 1)) }

// Predict runs a program for a case.
func Predict(p *hostir.Program, c Case, m *Machine) (*Prediction, error) {
	if err := c.Fits(p); err != nil {
		return nil, fmt.Errorf("predict %s: %w", p.Name, err)
	}
	element := c.ElementBits / 8
	if m.Rate[element] == 0 || c.ElementBits == schedule.E4M3.Bits() { // E4M3: no plan's elements
		return nil, fmt.Errorf("predict %s: %s has no rate for elements of %d bytes", p.Name, m.Name, element)
	}
	lists, err := c.Unroll(p)
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	for r, list := range lists {
		lists[r] = packets(list)
	}
	out, err := Run(lists, c, m, func(stream string) int { return priority(p, stream) })
	if err != nil {
		return nil, fmt.Errorf("predict %s: %w", p.Name, err)
	}
	return out, nil
}

// falls is the number of streams with different priorities, where priorities fall from stream 1 on.
const falls = 5

// priority is the priority of a stream, by the program's sets: above the streams that yield to it.
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

// Run simulates the lists of all ranks. priority ranks the streams.
func Run(lists [][]ops.Op, c Case, m *Machine, priority func(stream string) int) (*Prediction, error) {
	lists = slices.Clone(lists)
	for r := range lists {
		lists[r] = apart(lists[r])
	}
	element := c.ElementBits / 8
	all := whole(lists[0], 0, element)
	s := &simulation{m: m, ranks: len(lists), l: m.Replayed, element: element, slow: m.slowdown(all),
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

// enqueued lists the times at which the host has enqueued each operation.
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

// of is the time to enqueue an operation after another one.
func (h HostTimes) of(o, last ops.Op) float64 {
	switch {
	case o.Part > 0: // the launch has the time
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
