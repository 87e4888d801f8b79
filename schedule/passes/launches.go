package passes

import (
	"slices"

	"ovgen/schedule/hostir"
)

// Passes by which a launch takes a step with its signals: they bring the signals beside it, say which kernel carries
// each step, make one launch of what stands together, and let its blocks signal for themselves.

// Kernels that do several steps in one launch.
const (
	getKernel     = "get"     // a wait, a copy from a peer, a post
	putKernel     = "put"     // the same to a peer
	shotKernel    = "shot"    // a post, a wait, a sum, a post, a wait
	gatherKernel  = "gather"  // the same around a gather
	tilesKernel   = "tiles"   // the same around tiles
	scatterKernel = "scatter" // the same around the tiles of a scatter
)

// signals brings posts and waits to where one launch can take them, if kernels do whole steps.
func signals(p *hostir.Program) error {
	s := signalled{p}
	p.Body = s.postsToReader(s.asMeetings(lists(p.Body, s.waitsToCopies)))
	return nil
}

// signalled is a program whose signals are brought elsewhere.
type signalled struct{ *hostir.Program }

// lists rewrites the lists within a list of nodes, and then the list.
func lists(nodes []hostir.Node, f func([]hostir.Node) []hostir.Node) []hostir.Node {
	var out []hostir.Node
	for _, n := range nodes {
		out = append(out, n.With(hostir.Parts{Body: func(b []hostir.Node) []hostir.Node { return lists(b, f) }}))
	}
	return f(out)
}

// waitsToCopies moves a wait down its stream to the copy between ranks after it. Only
// waits of the same stream are between them.
func (p signalled) waitsToCopies(nodes []hostir.Node) []hostir.Node {
	nodes = slices.Clone(nodes)
	for i := len(nodes) - 1; i >= 0; i-- {
		wait, _ := nodes[i].(hostir.Step)
		if _, waits := p.signal(wait, true); !waits {
			continue
		}
		next := i + 1
		for next < len(nodes) && crosses(wait.Stream, nodes[next]) {
			next++
		}
		if next == len(nodes) {
			continue
		}
		if s, _ := nodes[next].(hostir.Step); s.Remote() && s.MoveOf == wait.MoveOf {
			nodes = slices.Delete(slices.Insert(nodes, next, hostir.Node(wait)), i, i+1)
		}
	}
	return nodes
}

// crosses says that a wait on a stream may as well stand after a node: the node enqueues
// nothing on the stream, and no other stream waits for this one there.
func crosses(stream hostir.StreamRef, n hostir.Node) bool {
	same := func(s hostir.StreamRef) bool { return s.Set == stream.Set }
	if forked, ok := n.(hostir.Synchronize); ok {
		return !slices.ContainsFunc(forked.On, same)
	}
	return len(hostir.Bodies(n)) == 0 && !slices.ContainsFunc(hostir.Streams(n), same)
}

// asMeetings takes the signals around products that write a peer's memory out of their steps: no launch takes them
// there, and one for each would cost more time than the sum gains by starting earlier. All ranks meet instead, once
// after the post that the products wait for, and once before the wait for all of them.
func (p signalled) asMeetings(nodes []hostir.Node) []hostir.Node {
	before, after := map[string]bool{}, map[string]bool{}
	nodes = lists(nodes, func(list []hostir.Node) []hostir.Node {
		for i := 1; i+1 < len(list); i++ {
			wait, waits := p.signal(list[i-1], true)
			post, posts := p.signal(list[i+1], false)
			s, _ := list[i].(hostir.Step)
			if s.Kind() != hostir.ProductKind || s.Result().Peer.IsZero() || !waits || !posts {
				continue
			}
			before[wait.Semaphore], after[post.Semaphore] = true, true
			list = slices.Concat(list[:i-1], list[i:i+1], list[i+2:])
		}
		return list
	})
	return hostir.MapSteps(nodes, func(s hostir.Step) []hostir.Node {
		switch w, ok := s.Signal(); {
		case ok && !w.Wait && before[w.Semaphore]:
			return hostir.MovesOf(s.MoveOf, s, hostir.Wait(s.Stream, w.Semaphore, hostir.Every))
		case ok && w.Wait && after[w.Semaphore]:
			return hostir.MovesOf(s.MoveOf, hostir.Post(s.Stream, w.Semaphore, hostir.Every), s)
		}
		return []hostir.Node{s}
	})
}

// signal is the post, or the wait, that a node is, if it is of a move whose steps kernels do whole.
func (p signalled) signal(n hostir.Node, wait bool) (hostir.Word, bool) {
	s, _ := n.(hostir.Step)
	w, ok := s.Signal()
	return w, ok && w.Wait == wait && p.EdgeOf(s).Carrier.Fused
}

// postsToReader lets the copy that alone reads the peers' memory say so itself, to its peer,
// in place of the post to all of them at the end.
func (p signalled) postsToReader(nodes []hostir.Node) []hostir.Node {
	end := slices.IndexFunc(nodes, func(n hostir.Node) bool {
		w, posts := p.signal(n, false)
		return posts && w.Semaphore == hostir.ReadWord && w.Peer.IsZero()
	})
	if end < 0 {
		return nodes
	}
	of := nodes[end].Source().MoveOf
	readers, last := 0, hostir.Step{}
	hostir.Steps(nodes, func(s hostir.Step) {
		reads, _ := s.Views()
		away := slices.ContainsFunc(reads, func(v hostir.View) bool { return !v.Peer.IsZero() })
		if away {
			readers, last = readers+1, s
		}
	})
	if readers != 1 || !last.Remote() || last.MoveOf != of {
		return nodes
	}
	var wait hostir.Step // of every peer, with which they meet
	if _, waits := p.signal(nodes[min(end+1, len(nodes)-1)], true); waits {
		wait, _ = nodes[end+1].(hostir.Step)
	} else {
		return nodes
	}
	wait.Origin = nodes[end].Source()
	nodes = slices.Concat(nodes[:end], []hostir.Node{wait}, nodes[end+2:])
	return hostir.MapSteps(nodes, func(s hostir.Step) []hostir.Node {
		x, copies := s.Do.(hostir.Copy)
		if !copies || !s.Remote() || s.MoveOf != of {
			return []hostir.Node{s}
		}
		return hostir.MovesOf(of, s, hostir.Post(s.Stream, hostir.ReadWord, x.From.Peer))
	})
}

// kernels gives the posts, waits and copies that emitted kernels carry out their kernel.
// Copies within a rank's own memory stay with the copy engine.
func kernels(p *hostir.Program) error {
	p.Body = hostir.ChangeSteps(p.Body, func(s hostir.Step) hostir.Step { return carried(s, p.EdgeOf(s).Carrier) })
	return nil
}

// carried gives a post, a wait or a copy between ranks its kernel, if one carries it out.
func carried(s hostir.Step, c hostir.Carrier) hostir.Step {
	w, signals := s.Signal()
	switch {
	case s.Remote() && c.Copies:
		s.By = hostir.CopyKernel
	case signals && c.Signals && w.Wait:
		s.By = hostir.WaitKernel
	case signals && c.Signals:
		s.By = hostir.PostKernel
	}
	return s
}

// fuse makes one launch of the steps of a move that follow each other on one stream around a copy
// between ranks (a wait, the copy, a post) or around a sum or a gather (a post, a wait, the sum,
// a post and a wait, all of every peer), as far as they are there.
func fuse(p *hostir.Program) error {
	p.Body = launches{p}.of(p.Body)
	return nil
}

// launches are those of a program.
type launches struct{ *hostir.Program }

// of is a list with its launches and the launches of its bodies.
func (p launches) of(nodes []hostir.Node) []hostir.Node {
	var out []hostir.Node
	for len(nodes) > 0 {
		if kernel, n := p.first(nodes); n > 1 {
			var steps []hostir.Step
			for _, s := range nodes[:n] {
				steps = append(steps, s.(hostir.Step))
			}
			out = append(out, hostir.Fuse(kernel, steps...).AskedBy(hostir.LaunchesField))
			nodes = nodes[n:]
			continue
		}
		out = append(out, nodes[0].With(hostir.Parts{Body: p.of}))
		nodes = nodes[1:]
	}
	return out
}

// meetings are the kernels that work between two meetings of all ranks.
var meetings = map[hostir.Kind]string{hostir.SumKind: shotKernel, hostir.GatherKind: gatherKernel,
	hostir.Tiles{}.Kind(): tilesKernel, hostir.Scatter{}.Kind(): scatterKernel}

// first is the kernel that does the first nodes of a list, and how many.
func (p launches) first(nodes []hostir.Node) (kernel string, n int) {
	first, _ := nodes[0].(hostir.Step)
	if !p.EdgeOf(first).Carrier.Fused {
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

// byBlocks lets each block of a kernel signal for itself, its part of the work being awaited by
// the blocks of its number at the peers: so no block waits for the others of its launch. Both
// sides of each semaphore then need such kernels, and equal parts on all ranks.
func byBlocks(p *hostir.Program) error {
	elsewhere := map[string]bool{} // signalled by steps that can't
	for _, s := range p.Semaphores {
		elsewhere[s.Name] = !s.Count.IsZero()
	}
	cut := func(s hostir.Step) bool {
		return (s.Kind().Lands() || p.EdgeOf(s).Carrier.ByBlocks) && inBlocks(s) && !signalsAny(s, elsewhere)
	}
	for again := true; again; {
		again = false
		hostir.Steps(p.Body, func(s hostir.Step) {
			if cut(s) {
				return
			}
			for _, w := range s.Words() {
				again = again || !elsewhere[w.Semaphore]
				elsewhere[w.Semaphore] = true
			}
		})
	}
	p.Body = hostir.ChangeSteps(p.Body, func(s hostir.Step) hostir.Step { s.ByBlocks = cut(s); return s })
	return nil
}

// inBlocks says that a step can be cut into the parts of blocks: a sum that ends with operands by row or by column
// can't, unless packets land for it.
func inBlocks(s hostir.Step) bool {
	x, sums := s.Do.(hostir.Sum)
	return s.Fused() && (!sums || x.Finish.ByPlace())
}

// signalsAny says whether a step posts or awaits one of these semaphores.
func signalsAny(s hostir.Step, these map[string]bool) bool {
	for _, w := range s.Words() {
		if these[w.Semaphore] {
			return true
		}
	}
	return false
}
