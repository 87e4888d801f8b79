package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var paddings = by(padded, gatherCounted)

// paddedSuffix ends the name of the memory in which the parts of all ranks have one size.
const paddedSuffix = "padded"

// padded serves parts that travel as chunks of one size, padding and all, between buffers of the plan: so the bytes on
// the links do not depend on the counts.
func padded(d *draft, s *stage, w schedule.Padded) error {
	if d.split(d.edge.Of).Most == "" {
		return refused(d.at(), "set Uneven and Most of A's split over the ranks",
			"only uneven parts whose most is known can be padded")
	}
	s.arriving, s.once = rowsPadded, true
	return nil
}

// rowsPadded copies the counted rows one after another from there to their places, each part's while the next one
// travels.
func rowsPadded(w *writer, s *stage) arrival {
	most := w.split(s.input).Most
	columns, word, from := w.columnsOf(s.input), w.named(ready, s.here()), hostir.Var("from")
	name := s.input + paddedSuffix
	w.memory(name, hostir.Extent(columns.Extent), schedule.Dim(schedule.D), schedule.Dim(most), columns)
	b := w.buffer(name)
	b.Shared, b.Counts = true, hostir.Var(countChunk)
	b.Room = hostir.Mul(hostir.Extent(most), hostir.Extent(columns.Extent))
	room := func(v hostir.View) hostir.View {
		v.Padded = true
		return v
	}
	a := arrival{on: copyRef, reads: name, words: []hostir.Semaphore{{Name: word}}}
	a.all = []hostir.Node{
		hostir.Set(mainRef, hostir.Chunk(name, hostir.Rank), hostir.Whole(s.input)),
		hostir.Post(mainRef, word, every).Described("peers may read the own part"),
		hostir.After(copyRef, mainRef),
		hostir.Set(mainRef, hostir.Chunk(s.here(), hostir.Rank), hostir.Whole(s.input)),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(copyRef, word, from),
			hostir.Set(copyRef, room(hostir.Chunk(name, from)), room(hostir.Remote(name, from, from))),
			hostir.After(mainRef, copyRef),
			hostir.Set(mainRef, hostir.Chunk(s.here(), from), hostir.Chunk(name, from))),
	}
	return a
}
