package old

import "ovgen/schedule/hostir"

// fuse makes one launch of the steps of a move that follow each other on one stream around a copy
// between ranks (a wait, the copy, a post) or around a sum or a gather (a post, a wait, the sum,
// a post and a wait, all of every peer), as far as they are there.
func fuse(d *draft) error {
	d.program.Body = d.fused(d.program.Body)
	return nil
}

// fused is a list with its launches and the launches of its bodies.
func (d *draft) fused(nodes []hostir.Node) []hostir.Node {
	var out []hostir.Node
	for len(nodes) > 0 {
		if kernel, n := d.launch(nodes); n > 1 {
			var steps []hostir.Step
			for _, s := range nodes[:n] {
				steps = append(steps, s.(hostir.Step))
			}
			out = append(out, hostir.Fuse(kernel, steps...).AskedBy("By"))
			nodes = nodes[n:]
			continue
		}
		out = append(out, nodes[0].With(hostir.Parts{Body: d.fused}))
		nodes = nodes[1:]
	}
	return out
}

// meetings are the kernels that work between two meetings of all ranks.
var meetings = map[hostir.Kind]string{hostir.SumKind: shotKernel, hostir.GatherKind: gatherKernel,
	hostir.Tiles{}.Kind(): tilesKernel, hostir.Scatter{}.Kind(): scatterKernel}

// launch is the kernel that does the first nodes of a list, and how many.
func (d *draft) launch(nodes []hostir.Node) (kernel string, n int) {
	first, _ := nodes[0].(hostir.Step)
	if !d.carriage(first).fused {
		return "", 0
	}
	next := func() hostir.Step {
		if n == len(nodes) {
			return hostir.Step{}
		}
		s, _ := nodes[n].(hostir.Step)
		if s.MoveOf != first.MoveOf || s.Stream.String() != first.Stream.String() {
			return hostir.Step{}
		}
		return s
	}
	// signals takes a post, or a wait, if it is there.
	signals := func(wait, all bool) {
		if w, ok := next().Signal(); ok && w.Wait == wait && (!all || w.Peer.IsZero()) {
			n++
		}
	}
	signals(false, true)
	posted := n > 0
	signals(true, posted)
	switch s := next(); {
	case meetings[s.Kind()] != "":
		n++
		signals(false, true)
		signals(true, true)
		return meetings[s.Kind()], n
	case s.Remote() && !posted:
		kernel = getKernel
		if !s.Result().Peer.IsZero() {
			kernel = putKernel
		}
		n++
		signals(false, false)
		return kernel, n
	}
	return "", 0
}
