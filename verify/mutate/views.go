package mutate

import "ovgen/schedule/hostir"

// views makes the mutants of a node's views: another chunk, another rank, fewer chunks.
func views(n hostir.Node, add func(kind, text string, n hostir.Node)) {
	count := 0
	n.With(hostir.Parts{View: func(_ string, v hostir.View) hostir.View { count++; return v }})
	for which := range count {
		change := func(e func(*hostir.View) *hostir.Expr, kind, what string, to func(hostir.Expr) hostir.Expr) {
			at, role, next := 0, "", hostir.Expr{}
			mutant := n.With(hostir.Parts{View: func(r string, v hostir.View) hostir.View {
				if x := e(&v); at == which && !x.IsZero() {
					role, next = r, to(*x)
					*x = next
				}
				at++
				return v
			}})
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

// following is the next index on a mesh.
func following(e hostir.Expr) hostir.Expr {
	return hostir.Mod(hostir.Add(e, hostir.Const(1)), hostir.Size)
}
