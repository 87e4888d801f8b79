package explore_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// change is a mistake in the list of each rank, and the property that it breaks; empty: the program stays safe.
type change struct {
	name   string
	change func(list []ops.Op) []ops.Op
	refuse prove.Property
}

// A launch of parts that run side by side: the prover and the explorer agree on what each part needs. The list of a
// rank is its start, a post, the product of its own shard, then of each other shard a wait, a copy, a post and a
// product, the last wait, and the end.
func TestParts(t *testing.T) {
	const post, own, wait, pull, read, product = 1, 2, 3, 4, 5, 6
	agree(t, "AllGatherLinearTiles", catalog.AllGatherLinearTiles, []change{
		{"as they are", func(l []ops.Op) []ops.Op { return l }, ""},
		{"a shard pulled before its owner posts", func(l []ops.Op) []ops.Op {
			l[wait].Part = 1 // that of the own shard waits instead
			return l
		}, prove.Reset},
		{"a product in another part than its shard's", func(l []ops.Op) []ops.Op {
			o := l[product]
			o.Part = 1
			return slices.Insert(slices.Delete(l, product, product+1), own+1, o)
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
	})
}

// The same of a scatter: its start, a post, then of each peer's rows a wait, a product and a post, and the product of
// the own rows, a wait, a sum, and the end.
func TestPartsThatSum(t *testing.T) {
	const post, wait, product, written, own, arrived, sum = 1, 2, 3, 4, 5, 6, 7
	agree(t, "LinearReduceScatterTiles", catalog.LinearReduceScatterTiles, []change{
		{"as they are", func(l []ops.Op) []ops.Op { return l }, ""},
		{"blocks that may run one after another", func(l []ops.Op) []ops.Op {
			for i := range l {
				l[i].AtOnce = false
			}
			return l
		}, prove.Serial},
		{"a slot written before its owner posts", func(l []ops.Op) []ops.Op {
			l[wait], l[product] = l[product], l[wait]
			return l
		}, prove.Window},
		{"an owner told so before its slot is written", func(l []ops.Op) []ops.Op {
			l[product], l[written] = l[written], l[product]
			return l
		}, prove.Window},
		{"a sum before the peers have posted", func(l []ops.Op) []ops.Op {
			l[arrived], l[sum] = l[sum], l[arrived]
			return l
		}, prove.Race},
		{"a sum in another part than its wait", func(l []ops.Op) []ops.Op {
			o := l[sum]
			o.Part = 1
			return slices.Insert(slices.Delete(l, sum, sum+1), written+1, o)
		}, prove.Race},
		{"a wait for the peers before the slots may be written", func(l []ops.Op) []ops.Op {
			l[post], l[arrived] = l[arrived], l[post]
			l[post].Part, l[arrived].Part = 0, l[own].Part
			return l
		}, prove.Deadlock},
		{"no post that the slots may be written", func(l []ops.Op) []ops.Op {
			return slices.Delete(l, post, post+1)
		}, prove.Matching},
	})
}

// agree holds the prover and the explorer to what each change breaks.
func agree(t *testing.T, name string, s schedule.Schedule, changes []change) {
	t.Helper()
	program, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			shape := explore.ShapeOf(program, 2)
			lists, err := shape.Unroll(program)
			if err != nil {
				t.Fatal(err)
			}
			for r := range lists {
				lists[r] = c.change(lists[r])
			}
			model, err := prove.Of(program, shape.At(0))
			if err != nil {
				t.Fatal(err)
			}
			_, err = prove.Lists(t.Context(), model, lists, 0)
			sys, wrong := explore.Of(program, shape, lists, explore.Eager, explore.Eager)
			if wrong != nil {
				t.Fatal(wrong)
			}
			verdict := explore.Explore(sys)
			if len(verdict.Violations) == 0 {
				verdict = explore.ExploreSerial(sys)
			}
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
