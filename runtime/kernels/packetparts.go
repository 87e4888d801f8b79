package kernels

import (
	"math/bits"

	"ovgen/runtime/plan"
)

// toEach sends each rank a part of its own, as packets or, where words announce it, as plain data.
type toEach struct{ words bool }

// SendsPlain reports whether the kernel sends plain data, which words announce, and no packets.
func (k Kernel) SendsPlain() bool { return k.Kind.row().sends == toEach{words: true} }

func (e toEach) lay(l *Layout, next func(words int) int) {
	l.terms(next)
	l.At.Lands = Landing{To: next(l.Terms), From: next(1), Part: next(1), Half: next(1), Turn: next(1), Rank: next(1),
		Word: next(1), Spread: next(bits.OnesCount(l.Spread))}
	if e.words {
		l.At.Lands.Next = next(1)
	}
	l.beside(next)
	l.finish(next)
}

func (e toEach) fill(k *kernel, _ *plan.Queue, w plan.PacketWords, landings int) {
	p := k.params
	for r, at := range w.To {
		p[k.At.Lands.To+r] = uint64(at)
	}
	p[k.At.Lands.From], p[k.At.Lands.Part], p[k.At.Lands.Half] = uint64(w.From), uint64(w.Part), uint64(w.Half)
	p[k.At.Lands.Turn], p[k.At.Lands.Word] = uint64(w.Turn), uint64(w.Flags)
	if e.words {
		p[k.At.Lands.Next] = 4
	}
	for i := range landings - 1 {
		p[k.At.Lands.Spread+i] = uint64(w.Spread[i].Away)
	}
}

func (toEach) whole(*kernel) int64 { return 1 }

// each is two for a kernel that spreads, or ends with a function, whose blocks have half as many threads.
func (toEach) each(k Kernel) int64 {
	if k.Spread > 0 || k.Finish != nil {
		return 2
	}
	return 1
}
