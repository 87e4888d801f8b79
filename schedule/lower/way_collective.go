package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var collectives = by(func(d *draft, s *stage, w schedule.Collective) error {
	s.arriving = func(x *writer, s *stage) arrival { return collectedRows(x, s, w.WithStep) }
	return d.pooled(w.Streams)
}, gatherSteps)

// collectedRows gathers a batch of every rank's rows by one collective a round, and has them multiplied as one:
// nvFuser's collective pipeline. All ranks meet before the first batch and after the last, so that batches need no
// signals of their own.
func collectedRows(w *writer, s *stage, withStep bool) arrival {
	t, word := w.roundOfBatch(), w.named(ready, s.here())
	a := arrival{on: copyRef, words: []hostir.Semaphore{{Name: word}}, reads: s.input, copied: true}
	if withStep {
		a.on, a.oneLoop = t.work, true
	}
	w.lent(s.input)
	a.ready = []hostir.Node{hostir.Post(mainRef, word, every), hostir.Wait(mainRef, word, every)}
	own, from := hostir.Chunk(s.input, step), hostir.Ahead(hostir.Var(hostir.RankIndex))
	of := func(rank hostir.Expr) hostir.View {
		return hostir.Chunk(s.here(), hostir.Add(hostir.Mul(step, hostir.Size), rank))
	}
	t.bring = []hostir.Node{
		hostir.Set(a.on, of(hostir.Rank), own), // and those of the peers, r+1 first
		hostir.Loop(hostir.RankIndex, one, hostir.Size, hostir.Set(a.on, of(from), own.At(from)))}
	a.turns = []turns{t}
	return a
}
