package harness

import (
	"slices"

	"ovgen/schedule/hostir"
)

// Launches reports whether a launch of each of the caller's own kernels has a block at a shape.
func (p *Program) Launches(s Shape, ranks int) bool {
	env := hostir.Env{}
	for e, n := range s.Fit(p, ranks).extents(ranks) {
		env[string(e)] = int64(n)
	}
	return !slices.ContainsFunc(p.Schedule.Ops, func(o Op) bool {
		if !withKernel(o) {
			return false
		}
		blocks, err := hostir.ParseExpr(o.Kernel.Blocks)
		if err != nil {
			return false // lowering has read it
		}
		n, err := blocks.Eval(env)
		return err == nil && n < 1
	})
}

// Launched leaves out the shapes at which a kernel of the caller's own would be launched with 0 blocks: they are no
// shapes of the schedule. Where each is one, all stay, and the run's error says what to state.
func (p *Program) Launched(list []Shape, ranks int) []Shape {
	kept := slices.DeleteFunc(slices.Clone(list), func(s Shape) bool { return !p.Launches(s, ranks) })
	if len(kept) == 0 {
		return list
	}
	return kept
}
