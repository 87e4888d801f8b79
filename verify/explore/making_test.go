package explore_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// TestMaking: prover and explorer let the launch of a product make a function of its result, and see other operands;
// what the function writes is nothing that the product reads.
func TestMaking(t *testing.T) {
	sampling.Test(t, 1, 3)
	p, err := lower.Lower("Making", catalog.GatedMLPFewRows)
	if err != nil {
		t.Fatal(err)
	}
	shape := explore.ShapeOf(p, 2)
	shape.ElementBits = 16
	for _, e := range []string{"N", "K", "F"} {
		shape.Extents[e] = 512
	}
	made := func(list []ops.Op) int {
		return slices.IndexFunc(list, func(o ops.Op) bool {
			return o.Kind == ops.Apply && o.Kernel == hostir.FewRowsKernel
		})
	}
	for _, c := range []struct {
		name   string
		change func(product, function *ops.Op)
		want   bool
	}{
		{"swiglu", func(_, _ *ops.Op) {}, true},
		{"its operands swapped", func(_, f *ops.Op) { f.Uses[0], f.Uses[1] = f.Uses[1], f.Uses[0] }, false},
		{"another operand", func(_, f *ops.Op) { f.Uses[1].At = f.Uses[0].At }, false},
		{"into the rows", func(p, f *ops.Op) {
			f.Uses[2].At = p.Uses[0].At
			f.Uses[2].Bytes = min(f.Uses[2].Bytes, p.Uses[0].Bytes)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lists, err := shape.Unroll(p)
			if err != nil {
				t.Fatal(err)
			}
			at := made(lists[0])
			if at < 1 || lists[0][at-1].Kind != ops.Product || lists[0][at-1].Step != lists[0][at].Step {
				t.Fatalf("no launch multiplies and makes a function:\n%s", ops.Lines(lists[0]))
			}
			product, function := &lists[0][at-1], &lists[0][at]
			function.Uses = slices.Clone(function.Uses)
			c.change(product, function)
			m, err := prove.Of(p, shape)
			if err != nil {
				t.Fatal(err)
			}
			_, err = prove.Lists(t.Context(), m, lists, 0)
			var wrong *prove.Counterexample
			var form *ops.FormError
			if (errors.As(err, &wrong) || errors.As(err, &form)) == c.want || c.want && err != nil {
				t.Errorf("the prover says %v", err)
			}
			if form != nil {
				return // no launch, which the explorer takes for granted
			}
			sys, err := explore.Of(p, shape, lists, explore.Eager, explore.Eager)
			if err != nil {
				t.Fatal(err)
			}
			sys.First = true
			if v := explore.Explore(sys); v.Safe() != c.want {
				t.Errorf("the explorer says %v", v)
			}
		})
	}
}
