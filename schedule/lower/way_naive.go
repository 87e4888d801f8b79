package lower

import (
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var naives = append(by(naive, gather(ofRows), gather(ofBalanced)),
	by(naive, gather(ofBatches)).with(lacksKernel)...).has(intoCallers).with(because(rowsInTurn))

func naive(w *writer, s *stage, way schedule.Naive) error {
	hint, more := "use "+plainBringing, ""
	switch own := slices.IndexFunc(w.stages, func(x *stage) bool { return x.Own && len(x.Ops) > 0 }); {
	case len(w.legs) > 1:
		more = ": there travel " + strings.Join(w.travelling(), ", ")
	case own >= 0:
		more = ": " + w.stages[own].Ops[0].Out + " is made of own rows"
	}
	switch {
	case !way.Copied && !way.SignalsInStep && !way.StartInLoop && !way.HandlesInLoop:
		return refused(w.path(), hint, "a Naive without a mistake is a Pull")
	case len(s.Ops) == 0:
		return w.begins(s)
	case len(w.stages) > 1 || s.Sums != "":
		return refused(w.path(), hint,
			"a Naive shows the mistakes of one pipeline, and more follows its products here%s", more)
	case w.edge.Carrier.Fused && way.SignalsInStep:
		return w.refusal("By", "use schedule.Kernels", noKernel)
	case way.WithStep && way.SignalsInStep && !way.StartInLoop && way.Streams != 1 && w.edge.Carrier.Signals:
		return w.refusal("By", "use schedule.CopyEngine or schedule.KernelCopies, or one stream", "steps wait for "+
			"peers on streams of their own, and a kernel that waits keeps the device from what peers wait for")
	}
	s.arriving = mistakes(way).rows
	return w.pooled(s, "Streams", way.Streams)
}

// mistakes are those of a pull.
type mistakes schedule.Naive

func (x mistakes) rows(w *writer, s *stage) arrival {
	a := pulling{withStep: x.WithStep}.rows(w, s)
	a.copied, a.oneLoop = x.Copied, x.StartInLoop || x.WithStep && x.SignalsInStep
	t := &a.turns[0]
	from, to := t.pieces[0].rank, hostir.Var("to")
	t.names = append(t.names, hostir.Bind("to", hostir.Behind(step)))
	if x.SignalsInStep {
		done := w.word(read, s.here())
		a.ready, a.reads = nil, ""
		t.bring = slices.Concat([]hostir.Node{
			hostir.Post(a.on, w.named(ready, s.here()), to).Described("get: send first, then recv")}, t.bring,
			[]hostir.Node{hostir.Post(a.on, done, from), hostir.Wait(a.on, done, to)})
	}
	if x.HandlesInLoop {
		t.bring = slices.Insert(t.bring, 0, hostir.Node(hostir.Share{Buffers: []string{s.Input}, To: to, From: from,
			Origin: hostir.Origin{Remark: "a cache hit after the first run", Field: hostir.HandlesField}}))
	}
	if x.Copied { // as those of peers are, in the first round
		t.first = zero
		t.set = w.turns(t.first, t.end).set
		own := hostir.Set(a.on, w.rowsAt(s.here(), from), w.shard(s, hostir.Expr{})).Described("i = 0: the own rows")
		t.bring = []hostir.Node{hostir.If{X: from, Y: hostir.Rank, Then: w.within(own), Else: t.bring}}
	}
	if x.StartInLoop {
		streams, sets := []hostir.StreamRef{t.work}, []hostir.StreamSet{t.set}
		if !x.WithStep {
			streams, sets = append(streams, a.on), slices.Insert(sets, 0, copySet)
		}
		w.program.Declare(sets...)
		t.set = hostir.StreamSet{} // the head forks none of it
		t.bring = slices.Insert(t.bring, 0, hostir.Node(hostir.Forked(streams...)))
		t.behind = []hostir.Node{hostir.Joined(t.work)}
	}
	return a
}
