package prove

// bracket: by the streams and events of its rank, every operation comes after the start of its run and before the end.
// A capture would not include it otherwise. Only reads ahead may come before the start. Every statement about several
// runs and several plans rests on this property.
func (p *proof) bracket() *Counterexample {
	started, ended := make([]bool, len(p.nodes)), make([]bool, len(p.nodes))
	for run := range p.runs {
		for r := range p.lists {
			started[p.start[run][r]], ended[p.end[run][r]] = true, true
		}
	}
	for n := range p.nodes {
		for _, b := range p.before(int32(n)) {
			started[n] = started[n] || started[b] && p.sameRun(int32(n), b)
		}
	}
	for n := int32(len(p.nodes)) - 1; n >= 0; n-- {
		for _, b := range p.before(n) {
			ended[b] = ended[b] || ended[n] && p.sameRun(n, b)
		}
	}
	for n, x := range p.nodes {
		switch {
		case x.kind >= caller:
		case !started[n] && x.kind != ahead:
			return p.against(Bracket, p.start[x.run][x.rank], int32(n),
				"the stream does not wait for the start of the run: nothing orders this after the caller's earlier "+
					"work, and no capture would include it",
				"make the stream wait for main before it (Synchronize)")
		case !ended[n]:
			return p.against(Bracket, int32(n), p.end[x.run][x.rank], "main does not wait for this before the run ends",
				"make main wait for the stream after it (Synchronize)")
		}
	}
	return nil
}

// sameRun reports whether both are operations of one run of one rank.
func (g *graph) sameRun(a, b int32) bool {
	x, y := g.nodes[a], g.nodes[b]
	return x.kind < caller && y.kind < caller && x.rank == y.rank && x.run == y.run
}
