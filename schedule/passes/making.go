package passes

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// making gives a kernel of products the functions that follow on its stream, if each element of theirs is made from the
// elements at its place.
func making(p *hostir.Program) error {
	p.Body = joined{p}.of(p.Body)
	return nil
}

// joined are the nodes of a program in which products make what follows.
type joined struct{ *hostir.Program }

// of is a list of nodes with products joined to what follows them, and so are the lists in it.
func (j joined) of(nodes []hostir.Node) (out []hostir.Node) {
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

// one is the launch of a product, and of the formulas that follow. ok: it is one.
func (j joined) one(first, next hostir.Node) (s hostir.Step, ok bool) {
	s, _ = first.(hostir.Step)
	then, _ := next.(hostir.Step)
	x, multiplies := s.Do.(hostir.Product)
	f, makes := then.Do.(hostir.Apply)
	if !multiplies || !makes || s.By == "" || s.Stream.String() != then.Stream.String() || len(then.Words()) > 0 {
		return s, false
	}
	if x, ok = x.Making(f); !ok || !j.wide(f) {
		return s, false
	}
	s.Do = x
	return s.Applying(then.Applies), true
}

// wide reports whether all that formulas read and make has the plan's type or fp32, and their X the plan's.
func (j joined) wide(f hostir.Apply) bool {
	typed := func(types ...schedule.Type) func(v hostir.View) bool {
		return func(v hostir.View) bool {
			b, _ := j.Buffer(v.Buffer)
			return !slices.Contains(types, b.Tensor.Type)
		}
	}
	return !slices.ContainsFunc(append([]hostir.View{f.To}, f.Operands...), typed("", schedule.FP32)) &&
		!typed("")(f.X)
}
