package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var broadcasts = by(broadcastFrom, gatherRows, gatherBalanced)

func broadcastFrom(d *draft, s *stage, w schedule.Broadcast) error {
	s.arriving = broadcastRows
	return d.pooled(w.Streams)
}

// broadcastRows takes a root a round: in round i rank i pushes its rows to all peers, and the others multiply them when
// they are there. A rank after its own round waits for a root's rows after its own push, so waits lead to lower roots
// only.
func broadcastRows(w *writer, s *stage) arrival {
	open, came, to := w.named(free, s.here()), w.named(arrived, s.here()), hostir.Var("to")
	t := w.turns(hostir.Const(0), hostir.Size) // a round for each root, the rank itself among them
	t.skips, t.pieces = step, []piece{ofRank(step)}
	t.instead = []hostir.Node{
		hostir.Wait(copyRef, open, every),
		hostir.Loop("q", one, hostir.Size,
			hostir.Bind("to", hostir.Ahead(hostir.Var("q"))),
			hostir.Set(copyRef, w.rowsAt(s.here(), hostir.Rank).At(to), hostir.Whole(s.input))),
		hostir.Post(copyRef, came, every)}
	t.came = hostir.MovesOf(s.here(), hostir.Wait(t.work, came, step))
	return arrival{turns: []turns{t}, on: copyRef, words: []hostir.Semaphore{{Name: open}, {Name: came}},
		free: []hostir.Node{hostir.Post(mainRef, open, every)}}
}
