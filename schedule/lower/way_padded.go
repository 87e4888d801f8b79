package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// Products of padded rows have as many rows for each rank as one may have, so New need not know how many all ranks
// have. Padding holds any numbers: a product's rows do not depend on each other, and what is made of padding stays in
// memory of the plan, beside what is made of rows.

var paddings = by(padded, gather(ofCounted), gather(ofCounted).Alone()).has(intoCallers).
	with(because(paddedHoles))

// padded serves parts that travel as chunks of one size, padding and all, between buffers of the plan: so the bytes on
// the links do not depend on the counts. Products take them there.
func padded(w *writer, s *stage, way schedule.Padded) error {
	if w.most(w.edge.Of) == "" {
		return refused(w.path(), "set Most of the split of "+w.Sized(w.edge.Of)+" over the ranks",
			"only uneven parts whose most is known can be padded")
	}
	if o, takes := w.TakesAllRows(w.RowExtent(s.Input)); takes && len(s.Ops) > 0 {
		return refused(w.path(), leaveOut, "%s is made of all rows of %s, without padding", o.Out, o.In[0])
	}
	s.arriving, s.once, s.padded = rowsPadded, true, len(s.Ops) > 0
	return nil
}

// rowsPadded brings rows with their padding. Where no products take them it copies them one after another from there
// to their places, each part's while the next one travels.
func rowsPadded(w *writer, s *stage) arrival {
	name, word, from := s.here(), w.word(ready, s.here()), hostir.Var("from")
	if !s.padded {
		name = s.Input + hostir.PaddedSuffix
		columns := w.ColumnsOf(s.Input)
		w.program.Memory(name, hostir.Extent(columns.Extent), columns)
		b := w.program.At(name)
		b.Shared, b.Counts = true, hostir.Var(countChunk)
		b.Pad(w.most(s.Input))
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
	return arrival{on: copyRef, reads: name, all: nodes}
}

// most is the largest number of rows that a rank has of a tensor.
func (w *writer) most(of string) schedule.Extent { return w.Split(w.Sized(of)).Most }

// room gives the plan's memory of padded rows room for the most rows of each rank.
func (w *writer) room() {
	i := slices.IndexFunc(w.stages, func(s *stage) bool { return s.padded })
	if i < 0 {
		return
	}
	for k := range w.program.Buffers {
		if b := &w.program.Buffers[k]; b.Owner == hostir.Plan && b.Counts.Equal(hostir.Var(countChunk)) {
			b.Pad(w.most(w.stages[i].Input))
		}
	}
}

var paddedHoles = []hole{{func(n need) bool { return n.Kind == edges.AllGather && n.Of != ofSteps },
	"it pads counted rows alone, and a bound says how many a rank may have"}}
