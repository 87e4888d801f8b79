package explore_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// A launch of parts that run side by side: the prover and the explorer agree on what each part needs. The list of a
// rank is its start, a post, the product of its own shard, then of each other shard a wait, a copy, a post and a
// product, the last wait, and the end.
func TestParts(t *testing.T) {
	program, err := lower.Lower("AllGatherLinearTiles", catalog.AllGatherLinearTiles)
	if err != nil {
		t.Fatal(err)
	}
	const post, own, wait, pull, read, product = 1, 2, 3, 4, 5, 6
	for _, c := range []struct {
		name   string
		change func(list []ops.Op) []ops.Op
		refuse prove.Property // empty: safe
	}{
		{"as they are", func(l []ops.Op) []ops.Op { return l }, ""},
		{"a shard pulled before its owner posts", func(l []ops.Op) []ops.Op {
			l[wait].Part = 1 // that of the own shard waits instead
			return l
		}, prove.Reset},
		{"a product in another part than its shard's", func(l []ops.Op) []ops.Op {
			l[product].Part = 1
			return l
		}, prove.Race},
		{"a shard said to be read before it is pulled", func(l []ops.Op) []ops.Op {
			l[pull], l[read] = l[read], l[pull]
			return l
		}, prove.Window},
		{"no post that the own shard may be read", func(l []ops.Op) []ops.Op {
			return slices.Delete(l, post, post+1)
		}, prove.Matching},
		{"two parts with one result", func(l []ops.Op) []ops.Op {
			uses := slices.Clone(l[product].Uses)
			uses[len(uses)-1] = l[own].Uses[len(l[own].Uses)-1]
			l[product].Uses = uses
			return l
		}, prove.Race},
	} {
		t.Run(c.name, func(t *testing.T) {
			shape := explore.ShapeOf(program, 2)
			lists, err := shape.Unroll(program)
			if err != nil {
				t.Fatal(err)
			}
			for r := range lists {
				lists[r] = c.change(lists[r])
			}
			model, err := prove.Of(program, shape.Case(0))
			if err != nil {
				t.Fatal(err)
			}
			_, err = prove.Lists(t.Context(), model, lists, 0)
			sys, wrong := explore.Of(program, shape, lists, explore.Eager, explore.Eager)
			if wrong != nil {
				t.Fatal(wrong)
			}
			verdict := explore.Explore(sys)
			refused := (*prove.Counterexample)(nil)
			switch {
			case c.refuse == "":
				if err != nil {
					t.Error(err)
				}
				safe(t, verdict)
			case !errors.As(err, &refused) || refused.Property != c.refuse:
				t.Errorf("the prover says %v, want it to refuse %q", err, c.refuse)
			case len(verdict.Violations) == 0:
				t.Errorf("the explorer finds nothing wrong, and the prover %v", err)
			}
		})
	}
}
