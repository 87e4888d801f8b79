package mutate

import "ovgen/schedule/hostir"

// views makes the mutants of a node's views: another chunk, another rank, fewer chunks.
func views(n hostir.Node, add func(kind, text string, n hostir.Node)) {
	count := 0
	hostir.MapViews(n, func(_ string, v hostir.View) hostir.View { count++; return v })
	for which := range count {
		change := func(e func(*hostir.View) *hostir.Expr, kind, what string, to func(hostir.Expr) hostir.Expr) {
			at, role, next := 0, "", hostir.Expr{}
			mutant := hostir.MapViews(n, func(r string, v hostir.View) hostir.View {
				if x := e(&v); at == which && !x.IsZero() {
					role, next = r, to(*x)
					*x = next
				}
				at++
				return v
			})
			if !next.IsZero() {
				add(kind, role+what+next.String(), mutant)
			}
		}
		change(func(v *hostir.View) *hostir.Expr { return &v.Index }, "shift an index", " chunk ", following)
		change(func(v *hostir.View) *hostir.Expr { return &v.Peer }, "shift an index", " rank ", following)
		change(func(v *hostir.View) *hostir.Expr { return &v.Count }, "fewer chunks", " of ",
			func(e hostir.Expr) hostir.Expr { return hostir.Sub(e, hostir.Const(1)) })
	}
}

// following is the next index of a mesh's size.
func following(e hostir.Expr) hostir.Expr {
	return hostir.Mod(hostir.Add(e, hostir.Const(1)), hostir.Size)
}

// words are the semaphore, its index and the peer of a post or wait.
type words struct {
	semaphore   string
	index, peer hostir.Expr
}

// withWords rebuilds a post or wait with other words; others are left as they are.
func withWords(n hostir.Node, f func(words) words) hostir.Node {
	switch n := n.(type) {
	case hostir.Post:
		w := f(words{n.Semaphore, n.Index, n.Peer})
		n.Semaphore, n.Index, n.Peer = w.semaphore, w.index, w.peer
		return n
	case hostir.Wait:
		w := f(words{n.Semaphore, n.Index, n.Peer})
		n.Semaphore, n.Index, n.Peer = w.semaphore, w.index, w.peer
		return n
	}
	return n
}

// semaphore is that of a post or wait, empty for other nodes.
func semaphore(n hostir.Node) (name string) {
	withWords(n, func(w words) words { name = w.semaphore; return w })
	return name
}
