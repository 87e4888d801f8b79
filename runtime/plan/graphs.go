package plan

import (
	"context"
	"errors"
	"fmt"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
)

// graphs are the graphs that a plan keeps, one for each of the bindings that were replayed last.
type graphs struct {
	most int
	list []kept
	last int    // the entry found last: layers come in turn, so the next one is tried first
	uses uint64 // so far
}

// kept is a graph with this rank's addresses of the caller's buffers.
type kept struct {
	graph *device.Graph
	at    []driver.Ptr
	used  uint64 // the count of uses when it was used last
}

// bound reports whether the graph was captured with the present addresses of the buffers.
func (k *kept) bound(buffers []*Buffer) bool {
	for i, f := range buffers {
		if f.At(0) != k.at[i] {
			return false
		}
	}
	return true
}

// find returns the graph of the buffers' addresses, or nil.
func (g *graphs) find(buffers []*Buffer) *device.Graph {
	for n := range g.list {
		i := (g.last + n) % len(g.list)
		if k := &g.list[i]; k.bound(buffers) {
			g.last, g.uses = i, g.uses+1
			k.used = g.uses
			return k.graph
		}
	}
	return nil
}

// keep adds a graph. If there are as many as allowed, it replaces the one that was used longest ago.
func (g *graphs) keep(graph *device.Graph, buffers []*Buffer) error {
	g.uses++
	made := kept{graph: graph, used: g.uses}
	for _, f := range buffers {
		made.at = append(made.at, f.At(0))
	}
	if len(g.list) < g.most {
		g.last, g.list = len(g.list), append(g.list, made)
		return nil
	}
	oldest := 0
	for i := range g.list {
		if g.list[i].used < g.list[oldest].used {
			oldest = i
		}
	}
	old := g.list[oldest].graph
	g.last, g.list[oldest] = oldest, made
	return old.Close()
}

// drop closes all graphs.
func (g *graphs) drop() error {
	var errs []error
	for i := range g.list {
		errs = append(errs, g.list[i].graph.Close())
	}
	g.list, g.last = nil, 0
	return errors.Join(errs...)
}

// ownGraph returns the plan's graph for the memory that the plan is bound to. If there is none yet, it drains the
// group's runs on this rank and captures one; the stream s, on which it will be launched, must not be in capture.
func (p *Plan) ownGraph(ctx context.Context, s driver.Stream) (*device.Graph, error) {
	if g := p.graphs.find(p.bindable); g != nil {
		return g, nil
	}
	capturing, err := p.driver.StreamIsCapturing(s)
	if err != nil {
		return nil, fmt.Errorf("look at the stream: %w", err)
	}
	if capturing {
		return nil, errCapturing
	}
	if err := p.drain(ctx); err != nil {
		return nil, err
	}
	g, err := p.capture()
	if err != nil { // the peers replay, and would wait for this rank
		p.group.Abort(fmt.Errorf("rank %d: %s: %w", p.Rank(), p, err))
	}
	return g, err
}

// errCapturing is the error of Replay on a stream in capture.
var errCapturing = errors.New("the stream is being captured (use Enqueue)")

// capture makes a graph of the memory that the plan is bound to.
func (p *Plan) capture() (*device.Graph, error) {
	g, err := device.Capture(p.driver, p.main.own, func() error {
		p.queue.start(p.main.own)
		p.issue(&p.queue)
		return p.queue.err
	})
	if err != nil {
		return nil, err
	}
	return g, p.graphs.keep(g, p.bindable)
}
