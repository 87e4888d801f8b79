package old

import (
	"slices"

	"ovgen/schedule/hostir"
)

// signals brings posts and waits to where one launch can take them, if kernels do whole steps.
func signals(d *draft) error {
	d.program.Body = d.postsToReader(d.asMeetings(lists(d.program.Body, d.waitsToCopies)))
	return nil
}

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
func (d *draft) waitsToCopies(nodes []hostir.Node) []hostir.Node {
	nodes = slices.Clone(nodes)
	for i := len(nodes) - 1; i >= 0; i-- {
		wait, _ := nodes[i].(hostir.Step)
		if _, waits := d.signal(wait, true); !waits {
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

// asMeetings takes the signals around products that write a peer's memory out of their steps:
// no launch takes them there, and one for each would cost more time than the sum gains by
// starting earlier. All ranks meet instead, once after the post that the products wait for,
// and once before the wait for all of them.
func (d *draft) asMeetings(nodes []hostir.Node) []hostir.Node {
	before, after := map[string]bool{}, map[string]bool{}
	nodes = lists(nodes, func(list []hostir.Node) []hostir.Node {
		for i := 1; i+1 < len(list); i++ {
			wait, waits := d.signal(list[i-1], true)
			post, posts := d.signal(list[i+1], false)
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
			return hostir.MovesOf(s.MoveOf, s, hostir.Wait(s.Stream, w.Semaphore, every))
		case ok && w.Wait && after[w.Semaphore]:
			return hostir.MovesOf(s.MoveOf, hostir.Post(s.Stream, w.Semaphore, every), s)
		}
		return []hostir.Node{s}
	})
}

// signal is the post, or the wait, that a node is, if it is of a move whose steps kernels do whole.
func (d *draft) signal(n hostir.Node, wait bool) (hostir.Word, bool) {
	s, _ := n.(hostir.Step)
	w, ok := s.Signal()
	return w, ok && w.Wait == wait && d.carriage(s).fused
}

// postsToReader lets the copy that alone reads the peers' memory say so itself, to its peer,
// in place of the post to all of them at the end.
func (d *draft) postsToReader(nodes []hostir.Node) []hostir.Node {
	end := slices.IndexFunc(nodes, func(n hostir.Node) bool {
		w, posts := d.signal(n, false)
		return posts && w.Semaphore == read && w.Peer.IsZero()
	})
	if end < 0 {
		return nodes
	}
	of := nodes[end].Source().MoveOf
	readers, last := 0, hostir.Step{}
	hostir.Steps(nodes, func(s hostir.Step) {
		reads, _ := s.Views()
		away := slices.ContainsFunc(reads, func(v hostir.View) bool { return !v.Peer.IsZero() })
		if away && s.MoveOf == of {
			readers, last = readers+1, s
		}
	})
	if readers != 1 || !last.Remote() {
		return nodes
	}
	wait := nodes[end+1].(hostir.Step) // of every peer, with which they meet
	wait.Origin = nodes[end].Source()
	nodes = slices.Concat(nodes[:end], []hostir.Node{wait}, nodes[end+2:])
	return hostir.MapSteps(nodes, func(s hostir.Step) []hostir.Node {
		if !s.Remote() || s.MoveOf != of {
			return []hostir.Node{s}
		}
		return hostir.MovesOf(of, s, hostir.Post(s.Stream, read, s.Do.(hostir.Copy).From.Peer))
	})
}
