package explore_test

import (
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
)

// Operations of one rank that touch memory that they must not are refused in any order.
func TestMisplaced(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(o *ops.Op) bool // true where it was changed
		want  explore.Property
	}{
		{"a note beside the step word", func(o *ops.Op) bool {
			last := len(o.Words) - 1
			if last < 0 || o.Words[last].At.Buffer != "step["+o.Stream+"]" {
				return false
			}
			o.Words[last].At.Offset = 2052
			return true
		}, explore.WellFormed},
		{"another rank's count word", func(o *ops.Op) bool { o.Count.Rank = 0; return o.Count.Buffer != "" },
			explore.WellFormed},
		{"a range of fewer bytes than none", func(o *ops.Op) bool {
			if o.Kind != ops.Copy {
				return false
			}
			o.Uses[0].Bytes = -4
			return true
		}, explore.WellFormed},
		{"a product over its operand", func(o *ops.Op) bool {
			if o.Kind != ops.Product {
				return false
			}
			o.Uses[1].At = o.Uses[len(o.Uses)-2].At
			return true
		}, explore.NoRace},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := lower.Lower("AllGatherLinearFused", catalog.AllGatherLinearFused)
			if err != nil {
				t.Fatal(err)
			}
			shape := explore.ShapeOf(p, 2)
			lists, err := shape.Unroll(p)
			if err != nil {
				t.Fatal(err)
			}
			done := false
			for i := range lists[1] {
				done = done || c.spoil(&lists[1][i])
			}
			sys, err := explore.Of(p, shape, lists, explore.Eager)
			if err != nil {
				t.Fatal(err)
			}
			sys.First = true
			if v := explore.Explore(sys); !done || !v.Broke(c.want) {
				t.Errorf("changed %t, want %s broken, got %v", done, c.want, v.Violations)
			}
		})
	}
}
