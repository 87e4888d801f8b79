package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Products of padded rows have as many rows for each rank as one may have, so New need not know how many all ranks
// have. Padding holds any numbers: a product's rows do not depend on each other, and what is made of padding stays in
// memory of the plan, beside what is made of rows.

var paddings = by(padded, gatherCounted, gatherCountedBare).with(because(paddedHoles))

// padded serves parts that travel as chunks of one size, padding and all, between buffers of the plan: so the bytes on
// the links do not depend on the counts. Products take them there.
func padded(d *draft, s *stage, w schedule.Padded) error {
	if d.Split(d.Sized(d.edge.Of)).Most == "" {
		return refused(d.at(), "set Uneven and Most of A's split over the ranks",
			"only uneven parts whose most is known can be padded")
	}
	s.arriving, s.once, s.padded = rowsPadded, true, len(s.Ops) > 0
	return nil
}

// rowsPadded brings rows with their padding. Where no products take them it copies them one after another from there
// to their places, each part's while the next one travels.
func rowsPadded(w *writer, s *stage) arrival {
	name, word, from := s.here(), w.named(ready, s.here()), hostir.Var("from")
	if !s.padded {
		name = s.Input + paddedSuffix
		columns := w.ColumnsOf(s.Input)
		w.most = w.Split(w.Sized(s.Input)).Most
		w.memory(name, hostir.Extent(columns.Extent), columns)
		b := w.program.At(name)
		b.Shared, b.Counts = true, hostir.Var(countChunk)
		w.padded(b)
	}
	room := func(v hostir.View) hostir.View {
		v.Padded = true
		return v
	}
	nodes := []hostir.Node{hostir.Set(mainRef, hostir.Chunk(name, hostir.Rank), hostir.Whole(s.Input)),
		hostir.Post(mainRef, word, every).Described("peers may read the own part"), hostir.After(copyRef, mainRef)}
	comes := []hostir.Node{hostir.Bind("from", hostir.Ahead(step)), hostir.Wait(copyRef, word, from),
		hostir.Set(copyRef, room(hostir.Chunk(name, from)), room(hostir.Remote(name, from, from)))}
	if s.padded {
		nodes = append(nodes, steps(comes...), hostir.After(mainRef, copyRef))
	} else {
		nodes = append(nodes, hostir.Set(mainRef, hostir.Chunk(s.here(), hostir.Rank), hostir.Whole(s.Input)),
			steps(append(comes, hostir.After(mainRef, copyRef),
				hostir.Set(mainRef, hostir.Chunk(s.here(), from), hostir.Chunk(name, from)))...))
	}
	return arrival{on: copyRef, reads: name, words: []hostir.Semaphore{{Name: word}}, all: nodes}
}

// paddedSuffix ends the name of memory in which the parts of all ranks have one size.
const paddedSuffix = "padded"

// room gives the plan's memory of padded rows room for the most rows of each rank.
func (w *writer) room() {
	i := slices.IndexFunc(w.stages, func(s *stage) bool { return s.padded })
	if i < 0 {
		return
	}
	w.most = w.Split(w.Sized(w.stages[i].Input)).Most
	for i := range w.program.Buffers {
		if b := &w.program.Buffers[i]; b.Owner == hostir.Plan && b.Counts.Equal(hostir.Var(countChunk)) {
			w.padded(b)
		}
	}
}

// padded gives memory room for the most rows of each rank.
func (w *writer) padded(b *hostir.Buffer) {
	b.Tensor.Axes = []schedule.Axis{schedule.Dim(schedule.D), schedule.Dim(w.most), b.Tensor.Axes[len(b.Tensor.Axes)-1]}
	b.Room = hostir.Mul(hostir.Extent(w.most), b.Chunk)
	b.Elements = hostir.Mul(hostir.Size, b.Room)
}

// padRows lets the steps of a program take the padding of memory that has some. Where other memory lies without it a
// step takes one rank's rows after another's, and a product leaves its result in such memory first.
func (w *writer) padRows() (err error) {
	w.program.Body = hostir.MapSteps(w.program.Body, func(s hostir.Step) []hostir.Node {
		var apart, together bool // it takes all parts of memory with padding, and all parts of other memory
		reads, writes := s.Views()
		for _, v := range append(reads, writes...) {
			if b := w.program.At(v.Buffer); !b.Counts.IsZero() && v.Count.Equal(hostir.Size) {
				apart, together = apart || !b.Room.IsZero(), together || b.Room.IsZero()
			}
		}
		switch {
		case !apart:
			return []hostir.Node{s}
		case !together:
			return []hostir.Node{s.With(hostir.Parts{View: w.allPadded})}
		case s.Kind() == hostir.ProductKind:
			to := s.Result()
			a := s.Do.(hostir.Product).A.Buffer
			if b := w.program.At(a); !b.Counts.IsZero() && b.Room.IsZero() {
				err = cmp.Or(err, w.Misplaced(a, "leave it undeclared", "products take padded rows, and the caller "+
					"gets %s without padding", a))
			}
			s = s.Into(hostir.Chunks(w.besidePadding(to.Buffer), to.Index, to.Count)).
				With(hostir.Parts{View: w.allPadded}).(hostir.Step)
			return []hostir.Node{s, w.rankAfterRank(hostir.Set(s.Stream, to, s.Result()))}
		}
		return []hostir.Node{w.rankAfterRank(s)}
	})
	return err
}

// allPadded is a view with the padding of all parts, where it takes all.
func (w *writer) allPadded(_ string, v hostir.View) hostir.View {
	v.Padded = v.Padded || v.Count.Equal(hostir.Size) && !w.program.At(v.Buffer).Room.IsZero()
	return v
}

// rankAfterRank is a step on all parts as one on each rank's.
func (w *writer) rankAfterRank(s hostir.Step) hostir.Node {
	each := s.With(hostir.Parts{View: func(_ string, v hostir.View) hostir.View {
		if b := w.program.At(v.Buffer); !b.Counts.IsZero() && v.Count.Equal(hostir.Size) {
			v.Index, v.Count, v.Padded = step, hostir.Expr{}, false
		}
		return v
	}})
	return hostir.Loop(stepIndex, hostir.Const(0), hostir.Size, each)
}

// besidePadding is memory with padding for rows that the caller gets without it.
func (w *writer) besidePadding(name string) string {
	b := *w.program.At(name)
	b.Name += paddedSuffix
	b.Tensor = schedule.Tensor{Name: b.Name, Axes: b.Tensor.Axes, Type: b.Tensor.Type}
	b.Owner, b.Shared, b.Inner = hostir.Plan, false, hostir.Inner{}
	w.padded(&b)
	w.program.Buffers = append(w.program.Buffers, b)
	return b.Name
}

var paddedHoles = []hole{{func(n need) bool { return !n.hosts && n.of != ofSteps },
	"only counted rows of at most so many are padded"}}
