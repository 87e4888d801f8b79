package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// communication is what an operand's placement lacks for the steps of the result.
type communication struct {
	moves   moves
	operand string // that has to travel
}

// moves is a kind of communication.
type moves string

// Kinds of communication.
const (
	gather moves = "all-gather" // every rank needs all shards
)

// infer compares where A's rows are with the steps in which C's rows are made. A is
// sharded over the ranks and every rank makes all of C, a shard's rows a step: that
// is an all-gather of A, a shard a step (nvFuser: DIDx to Stream on the mapped axis).
func infer(d *draft) error {
	s := d.schedule
	a, _ := s.Tensor("A")
	c, _ := s.Tensor("C")
	for i, t := range s.Tensors {
		if err := inferTensor(i, t); err != nil {
			return err
		}
	}
	aAxis, _, sharded := a.Sharded()
	cAxis, cSplit, streamed := c.Streamed()
	if !sharded || !streamed || aAxis != 0 || cAxis != 0 || c.Axes[0].Outer[cSplit].Count != schedule.D {
		return &schedule.FieldError{Path: "Tensors", Msg: "no communication leads from A " + a.String() + " to C " + c.String(),
			Hint: "nearest is the all-gather of A [DIDx(D), M/D, K] to C [Stream(D), M/D, N]"}
	}
	d.comm = communication{moves: gather, operand: "A"}
	d.program.Checks = append(d.program.Checks, hostir.Divide{Extent: a.Axes[0].Extent, By: schedule.D})
	d.program.Buffers = buffers(s)
	return nil
}

// inferTensor refuses placements that none of the known communications uses.
func inferTensor(i int, t schedule.Tensor) error {
	path := tensorPath(i)
	for j, a := range t.Axes {
		if len(a.Outer) > 1 {
			return &schedule.FieldError{Path: axisPath(i, j), Msg: "no pass lowers an axis with several splits", Hint: "keep one"}
		}
		if len(a.Outer) == 1 && a.Outer[0].Kind == schedule.Plain {
			return &schedule.FieldError{Path: axisPath(i, j), Msg: "no pass lowers a plain split", Hint: "leave it out"}
		}
	}
	_, _, sharded := t.Sharded()
	_, _, streamed := t.Streamed()
	switch {
	case t.Name == "A" && streamed:
		return &schedule.FieldError{Path: path, Msg: "no communication leads from a streamed A", Hint: "shard its rows: [DIDx(D), M/D, K]"}
	case t.Name == "C" && sharded:
		return &schedule.FieldError{Path: path, Msg: "no communication leads to a sharded C", Hint: "stream its rows: [Stream(D), M/D, N]"}
	case t.Name != "A" && t.Name != "C" && (sharded || streamed):
		return &schedule.FieldError{Path: path, Msg: t.Name + " must be whole on every rank", Hint: "leave out its splits"}
	}
	return nil
}

// buffers are the tensors and the gathered A.
func buffers(s schedule.Schedule) []hostir.Buffer {
	var list []hostir.Buffer
	for _, name := range []string{"A", "B", "Bias", "C"} {
		t, ok := s.Tensor(name)
		if !ok {
			continue
		}
		list = append(list, hostir.Buffer{Name: name, Tensor: t, Owner: hostir.Caller, Shared: name == "A",
			Elements: elements(t, true), Chunk: chunk(t)})
	}
	a, _ := s.Tensor("A")
	g := schedule.Tensor{Name: gathered, Axes: append([]schedule.Axis{}, a.Axes...)}
	g.Axes[0] = schedule.Dim(a.Axes[0].Extent, schedule.Stream(schedule.D))
	return append(list, hostir.Buffer{Name: gathered, Tensor: g, Owner: hostir.Plan, Elements: elements(g, true), Chunk: chunk(g)})
}

// elements counts what a rank holds of a tensor: a shard where it is sharded.
func elements(t schedule.Tensor, shard bool) hostir.Expr {
	n := hostir.Expr{}
	for _, a := range t.Axes {
		e := extent(a.Extent)
		for _, s := range a.Outer {
			if s.Kind == schedule.DeviceX && shard {
				e = hostir.Div(e, extent(s.Count))
			}
		}
		if n.IsZero() {
			n = e
		} else {
			n = hostir.Mul(n, e)
		}
	}
	return n
}

// chunk counts the elements of one part of the outermost axis, or all without parts.
func chunk(t schedule.Tensor) hostir.Expr {
	cut := schedule.Tensor{Name: t.Name, Axes: append([]schedule.Axis{}, t.Axes...)}
	if len(cut.Axes) > 0 && len(cut.Axes[0].Outer) == 1 {
		cut.Axes[0].Outer = []schedule.Split{schedule.DIDx(cut.Axes[0].Outer[0].Count)}
	}
	return elements(cut, true)
}
