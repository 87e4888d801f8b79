package schedule

import "slices"

// Epsilon is the name of the number that norms add to the mean of squares.
const Epsilon = "Epsilon"

// DefaultEpsilon is the number that stands for the Shape's where it has none, as in Llama 3 and PyTorch.
const DefaultEpsilon = 1e-5

// WithEpsilon is the norm with a number of its own added to the mean of squares, such as 1e-6, in place of the Shape's.
func (f Func) WithEpsilon(epsilon float64) Func {
	f.Epsilon = epsilon
	return f
}

// norm says that a function has an epsilon.
func (f Func) norm() bool { return slices.Contains(Params(Nodes(f.Is)), Epsilon) }

// HasEpsilon says that the Shape has an epsilon: a formula of the schedule reads it.
func (s Schedule) HasEpsilon() bool {
	return slices.ContainsFunc(s.Ops, func(o Op) bool {
		return slices.ContainsFunc(o.Then, func(f Func) bool {
			return slices.Contains(Params(Nodes(s.Tree(f))), Epsilon)
		})
	})
}

// Numbers of fp32 between which an epsilon lies: the least normal one, and one that no norm comes near.
const leastEpsilon, mostEpsilon = 0x1p-126, 1

// checkEpsilon refuses a number that fp32 does not hold, and one that nothing reads.
func (f Func) checkEpsilon(v *validation, path string) {
	switch {
	case f.Epsilon == 0:
	case !f.norm():
		v.add(path, "leave it out", "only norms add an epsilon, and %s is none", f.Name())
	case !(f.Epsilon >= leastEpsilon && f.Epsilon <= mostEpsilon): // NaN too
		v.add(path, "use a number such as 1e-6, or 0 for the Shape's",
			"no norm adds %g to the mean of squares", f.Epsilon)
	}
}
