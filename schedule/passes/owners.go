package passes

import (
	"slices"

	"ovgen/schedule/hostir"
)

// spread lets a kernel that sums and spreads packets apply formulas of whole rows, which then has next no more. Of each
// row the owner makes what they say, and what it makes goes to all ranks. The result that they read goes there too if
// others need it; else it stays with its owner. ok is false where the kernel can't do this.
func (j rowLaunches) spread(s hostir.Step, x hostir.PacketSpread, f hostir.Apply, next hostir.Step) (_ hostir.Step,
	ok bool) {
	last := x.Spread[len(x.Spread)-1]
	if len(x.Spread) == mostSpread || f.X.String() != last.To.String() || f.Scales.Buffer != "" || !f.OfRows() ||
		!j.cut(f.WithRows()...) {
		return s, false
	}
	f = f.OfRank(hostir.Rank)
	if len(x.Sum.Then.Makes) == 0 {
		x.Sum.Then = f
	} else if x.Sum.Then, ok = x.Sum.Then.GoingOn(f); !ok {
		return s, false
	}
	x.Spread = slices.Clone(x.Spread)
	if !j.needed(last.To.Buffer) {
		x.Spread[len(x.Spread)-1] = hostir.SpreadOf(f.To.Buffer, *j.At(last.Landing.Buffer))
		s.Do = x
		return s, true
	}
	landing := *j.At(last.Landing.Buffer)
	landing.Name, landing.Lands.Flags = f.To.Buffer+hostir.SpreadSuffix, f.To.Buffer+hostir.ReturnedSuffix
	landing.Tensor.Name = landing.Name
	j.Buffers = append(j.Buffers, landing)
	j.Semaphores = append(j.Semaphores, hostir.Semaphore{Name: landing.Lands.Flags})
	x.Spread = append(x.Spread, hostir.SpreadOf(f.To.Buffer, landing))
	s.Do = x
	return s.Spreading(landing), true
}

// mostSpread is the largest number of results that a kernel sends to all ranks, as plan.PacketWords has room for.
const mostSpread = 8

// gathers lets a kernel that sums the rows of a rank by packets, and applies formulas of rows, send what the last of
// them makes to all ranks, where another kernel of packets would bring just that to them.
func (j rowLaunches) gathers(s, next hostir.Step, g hostir.PacketGather) (_ hostir.Step, ok bool) {
	x, _ := s.Do.(hostir.Packets)
	if len(x.Then.Makes) == 0 || !j.EdgeOf(s).Carrier.Rows {
		return s, false
	}
	chain := x.Then.Chain()
	made, own := chain[len(chain)-1].To, g.Each
	own.Each.Index = ""
	if own.String() != made.String() || j.needed(made.Buffer) || !j.cut(g.To) {
		return s, false
	}
	to(&x.Then, hostir.Chunk(g.To.Buffer, hostir.Rank))
	s.Do, s.By = hostir.PacketSpread{Sum: x, Spread: []hostir.PacketGather{hostir.SpreadOf(g.To.Buffer,
		*j.At(g.Landing.Buffer))}}, string(hostir.PacketSpread{}.Kind())
	s.Pre = slices.Concat(s.Pre, next.Pre)
	j.Buffers = slices.DeleteFunc(j.Buffers, func(b hostir.Buffer) bool { return b.Name == made.Buffer })
	return s, true
}

// to lets the last formulas of a kernel write a view.
func to(f *hostir.Apply, v hostir.View) {
	last := f
	if f.Then = slices.Clone(f.Then); len(f.Then) > 0 {
		last = &f.Then[len(f.Then)-1]
	}
	last.To = v
}

// cut lets whole buffers be indexed by each rank's part, and reports whether it can.
func (j rowLaunches) cut(list ...hostir.View) bool {
	for _, v := range list {
		b, _ := j.Buffer(v.Buffer)
		part := hostir.Div(b.Elements, hostir.Size)
		whole := v.String() == hostir.Whole(v.Buffer).String()
		if !whole || b.Chunk.Simplify().String() != part.Simplify().String() && j.parted(v.Buffer) {
			return false
		}
	}
	for _, v := range list {
		j.At(v.Buffer).Chunk = hostir.Div(j.At(v.Buffer).Elements, hostir.Size)
	}
	return true
}

// parted reports whether a step uses a part of a buffer.
func (j rowLaunches) parted(buffer string) (parted bool) {
	hostir.Steps(j.Body, func(s hostir.Step) {
		reads, writes := s.Views()
		parted = parted || slices.ContainsFunc(slices.Concat(reads, writes), func(v hostir.View) bool {
			return v.Buffer == buffer && !v.Index.IsZero()
		})
	})
	return parted
}

// needed reports whether all ranks need a whole result that one step reads: the caller gets it, or another step reads
// it.
func (j rowLaunches) needed(result string) bool {
	b, _ := j.Buffer(result)
	readers := 0
	hostir.Steps(j.Body, func(s hostir.Step) {
		if reads, _ := s.Views(); among(reads, result) {
			readers++
		}
	})
	return b.Owner != hostir.Plan || readers > 1
}
