package group

import (
	"fmt"
	"slices"

	"ovgen/runtime/driver"
)

// captured is the capture of a caller that the group's last run went into. Runs of one capture
// follow each other by the edges of its graph; the graph waits for the group's order before the
// first of them and records it once, after the last.
type captured struct {
	id     uint64
	main   driver.Stream
	ends   []driver.GraphNode // the last nodes of the last run
	record driver.GraphNode   // the node that records the order: it follows the ends, and no node follows it
}

// openCaptured orders a run in a capture after everything the group has run.
func (g *Group) openCaptured(r *Run) error {
	s := &g.runs
	if c, ok := driver.Optional[driver.Captures](g.drv); ok {
		info, err := c.StreamGetCaptureInfo(r.main)
		switch {
		case err != nil:
			return err
		case info.ID != s.graph.id:
		case r.main == s.graph.main:
			return nil
		default:
			return c.StreamUpdateCaptureDependencies(r.main, union(info.Nodes, s.graph.ends))
		}
	}
	return g.drv.StreamWaitEvent(r.main, s.order, driver.External)
}

// shutCaptured makes the graph record the group's order after this run instead of after the run before it. The stream's
// later work does not wait for the record, and the record does not wait for that work.
func (g *Group) shutCaptured(r *Run) error {
	s := &g.runs
	c, ok := driver.Optional[driver.Captures](g.drv)
	if !ok {
		return g.drv.EventRecordWithFlags(s.order, r.main, driver.External)
	}
	info, err := c.StreamGetCaptureInfo(r.main)
	if err != nil {
		return err
	}
	next := captured{info.ID, r.main, info.Nodes, s.graph.record}
	if info.ID == s.graph.id {
		if err := c.GraphRemoveDependencies(info.Graph, s.graph.ends, next.record); err != nil {
			return err
		}
		if err := c.GraphAddDependencies(info.Graph, next.ends, next.record); err != nil {
			return err
		}
		s.graph = next
		return nil
	}
	if err := g.drv.EventRecordWithFlags(s.order, r.main, driver.External); err != nil {
		return err
	}
	after, err := c.StreamGetCaptureInfo(r.main)
	if err != nil {
		return err
	}
	if len(after.Nodes) != 1 {
		return fmt.Errorf("record the group's order in a capture: the stream then follows %d nodes, want the record",
			len(after.Nodes))
	}
	next.record = after.Nodes[0]
	if err := c.StreamUpdateCaptureDependencies(r.main, info.Nodes); err != nil {
		return err
	}
	s.graph = next
	return nil
}

// union is the nodes that are in at least one of the lists.
func union(a, b []driver.GraphNode) []driver.GraphNode {
	list := slices.Clone(a)
	for _, n := range b {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}
