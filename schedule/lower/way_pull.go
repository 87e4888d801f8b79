package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var pulls = []lowering{
	intoCallers(where(pullOf(gather), ofOneStream)),
	pullOf(gatherBalanced),
}

// ofOneStream says that the copies have one stream, and that no shard travels in parts.
func ofOneStream(w schedule.Pull) bool {
	return w.Parts <= 1 && !w.WithStep && w.By != schedule.OneKernel && !(w.Once && w.Streams > 0)
}

// pullLink does the gathers of chains.
var pullLink = by(gatherLink, func(d *draft, w schedule.Pull) error {
	d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
	switch {
	case d.edge.Carrier.Fused:
		return d.noKernel("By")
	case w.Parts > 1:
		return d.refusal("Parts", "leave it out", "no pass cuts the rows that a chain gathers into parts")
	case w.WithStep:
		return d.refusal("WithStep", "leave it out", "a chain copies rows on a stream of their own")
	case w.Once && w.Streams > 0:
		return d.refusal("Streams", "leave it out, or Once", "one product of all rows has the caller's stream")
	case w.Once:
		d.fetch()
		return d.wholeRows("one product")
	case w.Streams > 0 && len(d.legs()) > 1:
		return d.refusal("Streams", "leave it out", "the products of a chain of several moves share their streams")
	}
	d.with.compute = max(w.Streams, d.with.compute)
	return nil
})

// pulledRows copies the rows of rank r+i from their owner in round i.
func pulledRows(w *writer, s *stage) arrival {
	a := arrival{turns: w.shift(), on: copyRef, reads: true}
	word, peer := w.named(ready, s.here()), a.piece.rank
	a.words = []hostir.Semaphore{{Name: word}}
	a.ready = func(on hostir.StreamRef) hostir.Step { return hostir.Post(on, word, every) }
	if w.n == 1 {
		a.bring = []hostir.Node{hostir.Wait(a.on, word, peer)}
	} else {
		a.begin = []hostir.Node{hostir.Wait(a.on, word, every)}
	}
	a.bring = append(a.bring, hostir.Set(a.on, w.at(s.here(), a.piece), hostir.Remote(s.input, peer, w.part())))
	return a
}

func pullOf(m moves) lowering {
	return by(m, func(d *draft, w schedule.Pull) error {
		d.with.parts, d.with.compute, d.with.withStep = w.Parts, w.Streams, w.WithStep
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		const hint = "leave it out, or Once"
		switch {
		case w.Parts > 1 && m == gatherBalanced:
			return d.refusal("Parts", "leave it out", "no pass cuts balanced parts into more")
		case w.Parts > 1 && d.edge.Carrier.Fused:
			return d.noKernel("By")
		case !w.Once:
			return gatherShift(d)
		case w.Parts > 1:
			return d.refusal("Parts", hint, "all rows are multiplied at once")
		case w.Streams > 0:
			return d.refusal("Streams", hint, "one product of all rows has the caller's stream")
		case w.WithStep:
			return d.refusal("WithStep", hint, "one product of all rows has the caller's stream")
		}
		return gatherOnce(d)
	})
}

// intoCallers marks a lowering that may gather into the caller's memory.
func intoCallers(l lowering) lowering {
	l.gathered = true
	return l
}

// inPlace marks a lowering that works in place.
func inPlace(l lowering) lowering {
	l.inPlace = true
	return l
}
