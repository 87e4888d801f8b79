package passes

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// rows joins launches. Functions of whole rows, and functions behind them on their stream, become one launch. A sum of
// packets and the functions behind it become one where its way says Rows, and so do functions and the packets behind
// them that bring what they make; a way that says so without such functions is refused.
func rows(p *hostir.Program) error {
	j := rowLaunches{p, map[string]bool{}}
	p.Body = joined(p.Body, j.one)
	for i, e := range p.Edges {
		if e.Carrier.Rows && !j.made[e.Steps] {
			hint, problem := j.apart(i)
			return schedule.Refused(e.Path+".Rows", hint, problem, e.Of)
		}
	}
	return nil
}

// apart is the fact why functions of rows are not in the kernel of an edge's packets, and a hint. Where later sums
// leave one rank's rows after another's, these functions take rows of a rank, too.
func (j rowLaunches) apart(edge int) (hint, problem string) {
	e, rest, hint := j.Edges[edge], j.Edges[edge+1:], "leave it out"
	sums, pieces, makes := schedule.Sums(e.Way), false, false
	moved := map[string]bool{} // memory of sums, or of what packets bring
	hostir.Steps(j.Body, func(s hostir.Step) {
		reads, writes := s.Views()
		if !sums {
			writes = reads
		}
		for _, v := range writes {
			moved[v.Buffer] = moved[v.Buffer] || s.MoveOf == e.Steps
		}
	})
	hostir.Steps(j.Body, func(s hostir.Step) {
		if f, ok := s.Do.(hostir.Apply); ok && f.OfRows() && !j.otherTypes(f) {
			pieces = pieces || moved[f.X.Buffer] && !f.X.Index.IsZero()
			_, writes := s.Views()
			makes = makes || slices.ContainsFunc(writes, func(v hostir.View) bool { return moved[v.Buffer] })
		}
	})
	then := slices.IndexFunc(rest, func(e hostir.Edge) bool { return schedule.Sums(e.Way) })
	switch {
	case sums && pieces && then >= 0:
		hint += ", or use " + schedule.WaysThat(func(f schedule.Facts) bool { return f.AllRows }) + " for " +
			rest[then].Of
		fallthrough
	case sums && pieces:
		return hint, "functions of whole rows take the sums of %s one rank's rows after another's"
	case sums:
		return hint, "no function of whole rows of the plan's type stands behind the sums of %s"
	case makes:
		return hint + ", or make it last",
			"another step stands between the kernel that makes rows of %s and its packets"
	}
	return hint, "no kernel of its own makes rows of %s as a function of whole rows of the plan's type"
}

// rowLaunches are launches of a program with what goes on from them, and the edges of sums among those.
type rowLaunches struct {
	*hostir.Program
	made map[string]bool
}

// one is the launch of a sum, or of formulas of rows, and of the formulas that follow. ok: it is one.
func (j rowLaunches) one(first, next hostir.Node) (s hostir.Step, ok bool) {
	s, _ = first.(hostir.Step)
	then, _ := next.(hostir.Step)
	if s.Stream.String() != then.Stream.String() {
		return s, false
	}
	if g, gathers := then.Do.(hostir.PacketGather); gathers {
		if joined, ok := j.gathers(s, then, g); ok {
			return joined, true
		}
		return j.sends(s, then)
	}
	f, makes := then.Do.(hostir.Apply)
	if sum := hostir.FinishOf(s.Do); makes && !sum.ByPlace() && !sum.Columns.Equal(f.Columns) {
		return s, false // a kernel has rows of one length, and a row of f is a block
	}
	if x, sends := s.Do.(hostir.PacketRows); sends && makes {
		return j.widens(s, x, then, f)
	}
	if !makes || j.otherTypes(f) {
		return s, false
	}
	switch x := s.Do.(type) {
	case hostir.Packets:
		edge := j.EdgeOf(s)
		if !edge.Carrier.Rows || s.By != hostir.PacketsKernel {
			return s, false
		}
		if len(x.Then.Makes) > 0 {
			x.Then, ok = x.Then.GoingOn(f)
		} else {
			x.Then, ok = f, f.OfRows() && f.X.String() == x.To.String()
		}
		j.made[edge.Steps] = j.made[edge.Steps] || ok
		s.Do = x
	case hostir.PacketSpread:
		edge := j.EdgeOf(s)
		if !edge.Carrier.Rows {
			return s, false
		}
		s, ok = j.spread(s, x, f, then)
		j.made[edge.Steps] = j.made[edge.Steps] || ok
	case hostir.Apply:
		if !j.otherTypes(x) {
			s.Do, ok = x.GoingOn(f)
		}
	}
	if !ok {
		return first.(hostir.Step), false
	}
	return s.Applying(then.Applies), true
}

// sends lets the kernel that makes rows send them, where packets bring what it makes to all ranks.
func (j rowLaunches) sends(s, next hostir.Step) (_ hostir.Step, ok bool) {
	edge := j.EdgeOf(next)
	if !edge.Carrier.Rows {
		return s, false
	}
	x, _ := s.Do.(hostir.PacketRows)
	if f, makes := s.Do.(hostir.Apply); makes && f.OfRows() && !j.otherTypes(f) {
		x.Make = f
	}
	if len(x.Make.Makes) == 0 {
		return s, false
	}
	s, ok = x.Sending(s, next)
	j.made[edge.Steps] = j.made[edge.Steps] || ok
	return s, ok
}

// widens lets a kernel that makes rows and sends them make each element of what it gathers, which next does no more.
func (j rowLaunches) widens(s hostir.Step, x hostir.PacketRows, next hostir.Step, f hostir.Apply) (_ hostir.Step,
	ok bool) {
	if x, ok = x.GoingOn(f); !ok || len(s.Do.(hostir.PacketRows).Then.Makes) > 0 {
		return s, false
	}
	gathered := func(v hostir.View) bool {
		return slices.ContainsFunc(x.Spread, func(g hostir.PacketGather) bool { return g.To.Buffer == v.Buffer })
	}
	if !j.cut(slices.DeleteFunc(f.WithRows(), gathered)...) {
		return s, false
	}
	s.Do = x
	return s.Applying(next.Applies), true
}

// otherTypes says that formulas read or make elements of another type than the plan's, but for codes that they leave
// the scales of.
func (j rowLaunches) otherTypes(x hostir.Apply) bool {
	views := append([]hostir.View{x.X}, x.Operands...)
	if x.Scales.Buffer == "" {
		views = append(views, x.To)
	}
	for _, v := range views {
		if b, _ := j.Buffer(v.Buffer); b.Tensor.Type != "" {
			return true
		}
	}
	return false
}
