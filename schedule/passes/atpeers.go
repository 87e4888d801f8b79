package passes

import (
	"slices"

	"ovgen/schedule/hostir"
)

// atPeers lets formulas read rows of a peer where they lie, in place of a copy that kernels would make for these
// formulas alone: the rows cross the link once, and no memory here holds them.
func atPeers(p *hostir.Program) error {
	x := copiesOfRows{p, map[string]bool{}, map[string]bool{}}
	hostir.Steps(p.Body, x.look)
	x.each(p.Body, nil, x.missing)
	p.Body = x.each(p.Body, nil, x.direct)
	p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		if x.spared(s.Result().Buffer) {
			return nil
		}
		return []hostir.Node{s}
	})
	p.Buffers = slices.DeleteFunc(p.Buffers, func(b hostir.Buffer) bool { return x.spared(b.Name) })
	return nil
}

// copiesOfRows has the buffers into which kernels copy from peers, and the buffers that other work needs.
type copiesOfRows struct {
	*hostir.Program
	copied, needed map[string]bool
}

// spared says that a buffer is needed by nothing but formulas that may read the peers' memory.
func (x copiesOfRows) spared(name string) bool { return x.copied[name] && !x.needed[name] }

// look notes what a step copies from a peer by a kernel, and what else it reads or writes.
func (x copiesOfRows) look(s hostir.Step) {
	reads, writes := s.Views()
	w, copies := s.Do.(hostir.Copy)
	carrier := x.EdgeOf(s).Carrier
	if b, _ := x.Buffer(w.To.Buffer); copies && b.Owner == hostir.Plan && carrier.Copies && !carrier.Fused &&
		!w.From.Peer.IsZero() {
		x.copied[b.Name], writes = true, nil
	}
	if s.Kind() == hostir.ApplyKind {
		reads = nil
	}
	for _, v := range append(reads, writes...) {
		x.needed[v.Buffer] = true
	}
}

// each rebuilds the steps of a list of nodes; f has the nodes ahead of a step in its round.
func (x copiesOfRows) each(list, ahead []hostir.Node,
	f func(s hostir.Step, ahead []hostir.Node) hostir.Step) (out []hostir.Node) {
	for i, n := range list {
		if s, ok := n.(hostir.Step); ok {
			out = append(out, f(s, slices.Concat(ahead, list[:i])))
			continue
		}
		out = append(out, n.With(hostir.Parts{Body: func(b []hostir.Node) []hostir.Node {
			return x.each(b, sameRounds(list[:i], n), f)
		}}))
	}
	return out
}

// sameRounds are the nodes of loops in a list that have the rounds of a loop.
func sameRounds(list []hostir.Node, of hostir.Node) (bodies []hostir.Node) {
	loop, _ := of.(hostir.For)
	for _, n := range list {
		if o, ok := n.(hostir.For); ok && o.Index == loop.Index && o.From.Equal(loop.From) && o.To.Equal(loop.To) {
			bodies = append(bodies, o.Body...)
		}
	}
	return bodies
}

// missing notes the buffers that formulas read without the copy ahead of them, on their stream.
func (x copiesOfRows) missing(s hostir.Step, ahead []hostir.Node) hostir.Step {
	reads, _ := s.Views()
	for _, v := range reads {
		if _, copied := copyOf(ahead, s.Stream, v); !copied {
			x.needed[v.Buffer] = true
		}
	}
	return s
}

// direct has formulas read the peers' memory.
func (x copiesOfRows) direct(s hostir.Step, ahead []hostir.Node) hostir.Step {
	if s.Kind() != hostir.ApplyKind {
		return s
	}
	return s.With(hostir.Parts{View: func(_ string, v hostir.View) hostir.View {
		if from, copied := copyOf(ahead, s.Stream, v); copied && x.spared(v.Buffer) {
			return from
		}
		return v
	}}).(hostir.Step)
}

// copyOf is where the copy that fills a view takes it from. ok: one of the nodes is this copy, on that stream.
func copyOf(nodes []hostir.Node, on hostir.StreamRef, v hostir.View) (from hostir.View, ok bool) {
	for _, n := range nodes {
		s, _ := n.(hostir.Step)
		w, copies := s.Do.(hostir.Copy)
		if copies && w.To.String() == v.String() && s.Stream.String() == on.String() {
			from, ok = w.From, true
		}
	}
	return from, ok
}
