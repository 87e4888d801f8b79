package mutate_test

import (
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/mutate"
	"ovgen/verify/ops"
)

// A copy does what a cast does where the plan's type is fp32, and nowhere else, for prover and explorer alike.
func TestCopyForCast(t *testing.T) {
	p, err := lower.Lower("MixedMLP", catalog.MixedMLP)
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	for bytes, want := range map[int64]bool{2: false, 4: true} {
		shape := explore.ShapeOf(p, 2)
		shape.ElementBits = 8 * bytes
		other := *p
		other.Body = hostir.MapSteps(p.Body, func(n hostir.Step) []hostir.Node {
			if x, ok := n.Do.(hostir.Apply); ok && x.To.Buffer == "X" {
				copied++
				return []hostir.Node{hostir.Set(n.Stream, x.To, x.X)}
			}
			return []hostir.Node{n}
		})
		lists := [][][]ops.Op{}
		for _, of := range []*hostir.Program{p, &other} {
			list, err := shape.Unroll(of)
			if err != nil {
				t.Fatal(err)
			}
			lists = append(lists, list)
		}
		for name, check := range map[string]mutate.Checker{"prover": mutate.Prove, "explorer": mutate.Explore} {
			o, err := check(mutate.CaseOf(p, shape, lists[0]).With(lists[1]))
			if err != nil || o.Safe != want {
				t.Errorf("%d bytes: %s: %s, %v, want safe: %t", bytes, name, o, err, want)
			}
		}
	}
	if copied != 2 {
		t.Errorf("%d casts are copies, want 2", copied)
	}
}
