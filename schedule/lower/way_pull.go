package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var pulls = []lowering{
	intoCallers(asStage(gather, schedule.Pull{})),
	pullOf(gatherBalanced),
}

// pullLink does the gathers of chains.
var pullLink = by(gatherLink, func(d *draft, w schedule.Pull) error {
	d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
	const hint = "leave it out, or Once"
	switch {
	case d.edge.Carrier.Fused && (w.Parts > 1 || len(d.legs()) > 1):
		return d.noKernel("By")
	case w.Once && w.Parts > 1:
		return d.refusal("Parts", hint, "all rows are multiplied at once")
	case w.Once && w.Streams > 0:
		return d.refusal("Streams", hint, "one product of all rows has the caller's stream")
	case w.Once && w.WithStep:
		return d.refusal("WithStep", hint, "one product of all rows has the caller's stream")
	}
	d.arriveBy(pulling{parts: w.Parts, withStep: w.WithStep}.rows)
	if w.Once {
		d.allAtOnce()
		return d.wholeRows("one product")
	}
	return errorsOf(d.inParts(w.Parts), d.pooled(w.Streams))
})

// pulling is how a rank copies peers' rows from their owners: those of rank r+i in round i.
type pulling struct {
	parts    int
	withStep bool // on the streams of the products
}

// rows is the arrival.
func (x pulling) rows(w *writer, s *stage) arrival {
	a := arrival{turns: w.shift(int64(max(x.parts, 1))), on: copyRef, reads: true}
	if x.withStep {
		a.on = a.work
	}
	p, word := a.pieces[0], w.named(ready, s.here())
	a.words = []hostir.Semaphore{parts{n: int64(max(x.parts, 1))}.semaphore(word)}
	a.ready = func(on hostir.StreamRef) []hostir.Node {
		return parts{n: int64(max(x.parts, 1))}.each(func(part hostir.Expr) hostir.Node {
			return hostir.Post(on, word, every).Member(part)
		})
	}
	from := hostir.View{Buffer: s.input, Peer: p.rank, Index: p.part}
	if w.n > 1 {
		from.Index = w.part()
		a.begin = []hostir.Node{hostir.Wait(a.on, word, every)}
	} else {
		a.bring = []hostir.Node{hostir.Wait(a.on, word, p.rank).Member(p.part)}
	}
	a.bring = append(a.bring, hostir.Set(a.on, w.at(s.here(), p), from))
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
