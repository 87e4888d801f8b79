package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// A stage without operations may give the caller what it has of a tensor otherwise: each rank takes its part from every
// rank, and no operation reads what comes.

// transferred cuts the caller's tensors for a transfer. of is the view that a rank takes of every peer's input; place
// returns the view where it puts one peer's.
func (w *writer) transferred(s *stage) (of hostir.View, place func(rank hostir.Expr) hostir.View) {
	part := func(buffer string, axis int) func(rank hostir.Expr) hostir.View {
		if axis > 1 && len(w.program.At(buffer).Tensor.Axes) == 2 {
			b := w.program.At(buffer)
			rows, columns := b.Tensor.Axes[0], b.Tensor.Axes[1]
			columns.Outer = append(slices.Clone(columns.Outer), schedule.DIDx(schedule.D))
			b.Rows = hostir.Elements(schedule.Tensor{Axes: []schedule.Axis{rows}})
			b.Chunk = hostir.Elements(schedule.Tensor{Axes: []schedule.Axis{rows, columns}})
			return func(rank hostir.Expr) hostir.View { return hostir.Columns(buffer, rank) }
		}
		w.cut(buffer, schedule.D)
		return func(rank hostir.Expr) hostir.View { return hostir.Chunk(buffer, rank) }
	}
	of, place = hostir.Whole(s.Input), part(s.here(), s.Moved.From.Axis)
	if n, at := s.Moved.From.Shift, place; n != 0 {
		place = func(rank hostir.Expr) hostir.View {
			return at(hostir.Mod(hostir.Add(rank, onwards(-n)), hostir.Size))
		}
	}
	if s.Moved.To.Spread() {
		of = part(s.Input, s.Moved.To.Axis)(hostir.Rank)
	}
	if w.Uneven(s.Input) {
		w.counted(s.Input, exchangedCounts(s.Moved.From))
		w.counted(s.here(), exchangedCounts(s.Moved.To))
	}
	return of, place
}

// partOfEach takes this rank's part from every rank, r+1 first, and its own at the same time. It also brings a weight,
// or rows that are multiplied one rank's after another's: each product adds its share of a gradient to the sum of those
// before, so one stream has them all.
func partOfEach(w *writer, s *stage) arrival {
	a := pulling{}.rows(w, s)
	round := &a.turns[0]
	if s.AddsShares() {
		*round, a.oneLoop = round.onMain(), true
		return a
	}
	of, place := w.transferred(s)
	a.own = hostir.Set(mainRef, place(hostir.Rank), of)
	peer := round.pieces[0].rank
	round.bring[1] = hostir.Set(a.on, place(peer), of.At(peer))
	return a
}

// fromNeighbour copies a shard from the one rank that has it.
func fromNeighbour(w *writer, s *stage) arrival {
	distance := onwards(s.Moved.To.Shift - s.Moved.From.Shift)
	from, to := hostir.Var("from"), hostir.Var("to")
	ready, read := w.named(ready, s.here()), w.named(read, s.here())
	return w.onMain(s, hostir.Bind("from", hostir.Behind(distance)), hostir.Bind("to", hostir.Ahead(distance)),
		hostir.If{X: from, Y: hostir.Rank,
			Then: []hostir.Node{hostir.Set(mainRef, hostir.Whole(s.Into), hostir.Whole(s.Input))},
			Else: []hostir.Node{
				hostir.Post(mainRef, ready, to),
				hostir.Wait(mainRef, ready, from),
				hostir.Set(mainRef, hostir.Whole(s.Into), hostir.Whole(s.Input).At(from)),
				hostir.Post(mainRef, read, from),
				hostir.Wait(mainRef, read, to).Described(s.Input + " may be overwritten afterwards"),
			}})
}

// onwards is a number of ranks, from 0 on, by which parts move on round the ring as by a number below 0 too.
func onwards(n int) hostir.Expr {
	if n < 0 {
		return hostir.Mod(hostir.Mul(hostir.Const(int64(-n)), hostir.Sub(hostir.Size, one)), hostir.Size)
	}
	return hostir.Mod(hostir.Const(int64(n)), hostir.Size)
}

func fromRoot(w *writer, s *stage) arrival {
	root := hostir.Const(0)
	ready, read := w.named(ready, s.here()), w.named(read, s.here())
	return w.onMain(s, hostir.If{X: hostir.Rank, Y: root,
		Then: []hostir.Node{
			hostir.Post(mainRef, ready, every),
			hostir.Set(mainRef, hostir.Whole(s.Into), hostir.Whole(s.Input)),
			hostir.Wait(mainRef, read, every).Described(s.Input + " may be overwritten afterwards"),
		},
		Else: []hostir.Node{
			hostir.Wait(mainRef, ready, root),
			hostir.Set(mainRef, hostir.Whole(s.Into), hostir.Whole(s.Input).At(root)),
			hostir.Post(mainRef, read, root),
		}})
}

// onMain is an arrival of one copy, on the caller's stream.
func (w *writer) onMain(s *stage, nodes ...hostir.Node) arrival {
	return arrival{on: mainRef, all: nodes, words: []hostir.Semaphore{
		{Name: w.named(ready, s.here())}, {Name: w.named(read, s.here())}}}
}
