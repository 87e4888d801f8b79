package lower

import "ovgen/schedule/hostir"

// rows makes one launch of a sum of packets and of the functions of rows that follow it on its stream, where the way of
// the sum says so. It refuses a way that says so where none follow.
func rows(p *hostir.Program) error {
	made := map[string]bool{} // edges whose sums go on in their kernel
	p.Body = rowLaunches{p, made}.of(p.Body)
	for _, e := range p.Edges {
		if e.Carrier.Rows && !made[e.Steps] {
			return refused(e.Path+".Rows", "leave it out",
				"no function of whole rows of the plan's type stands behind the sums of %s", e.Of)
		}
	}
	return nil
}

// rowLaunches are the sums of a program with what goes on from them, and the edges of those.
type rowLaunches struct {
	*hostir.Program
	made map[string]bool
}

// of is a list with its sums joined to what follows them, and so are the lists in it.
func (j rowLaunches) of(nodes []hostir.Node) (out []hostir.Node) {
	for i := 0; i < len(nodes); i++ {
		n := nodes[i].With(hostir.Parts{Body: j.of})
		if i+1 < len(nodes) {
			if s, ok := j.one(n, nodes[i+1]); ok {
				n = s
				i++
			}
		}
		out = append(out, n)
	}
	return out
}

// one is the launch of a sum and of what follows it. ok: it is one.
func (j rowLaunches) one(sum, next hostir.Node) (s hostir.Step, ok bool) {
	s, _ = sum.(hostir.Step)
	then, _ := next.(hostir.Step)
	x, sums := s.Do.(hostir.Packets)
	f, makes := then.Do.(hostir.Apply)
	edge := j.EdgeOf(s)
	if !sums || !makes || !edge.Carrier.Rows || s.By != hostir.PacketsKernel || f.X.String() != x.To.String() ||
		s.Stream.String() != then.Stream.String() || !f.OfRows() || j.otherTypes(f) {
		return s, false
	}
	j.made[edge.Steps] = true
	x.Then = f
	s.Do = x
	return s.Applying(then.Applies), true
}

// otherTypes says that formulas read or make elements of another type than the plan's.
func (j rowLaunches) otherTypes(x hostir.Apply) bool {
	for _, v := range append([]hostir.View{x.X, x.To}, x.Operands...) {
		if b, _ := j.Buffer(v.Buffer); b.Tensor.Type != "" {
			return true
		}
	}
	return false
}
