package passes

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// making gives a kernel of products the functions that follow on its stream, if each element of theirs is made from the
// elements at its place.
func making(p *hostir.Program) error {
	p.Body = joined(p.Body, productLaunches{p}.one)
	return nil
}

// joined is a list of nodes in which one launch takes the place of two where it can, again and again, and so are the
// lists in it.
func joined(nodes []hostir.Node, one func(first, next hostir.Node) (hostir.Step, bool)) (out []hostir.Node) {
	within := func(list []hostir.Node) []hostir.Node { return joined(list, one) }
	for i := 0; i < len(nodes); i++ {
		n := nodes[i].With(hostir.Parts{Body: within})
		for i+1 < len(nodes) {
			s, ok := one(n, nodes[i+1])
			if !ok {
				break
			}
			n = s
			i++
		}
		out = append(out, n)
	}
	return out
}

// productLaunches are the products of a program, which make what follows.
type productLaunches struct{ *hostir.Program }

// one is the launch of a product, and of the formulas that follow. ok: it is one.
func (j productLaunches) one(first, next hostir.Node) (s hostir.Step, ok bool) {
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
func (j productLaunches) wide(f hostir.Apply) bool {
	typed := func(types ...schedule.Type) func(v hostir.View) bool {
		return func(v hostir.View) bool {
			b, _ := j.Buffer(v.Buffer)
			return !slices.Contains(types, b.Tensor.Type)
		}
	}
	return !slices.ContainsFunc(append([]hostir.View{f.To}, f.Operands...), typed("", schedule.FP32)) &&
		!typed("")(f.X)
}
