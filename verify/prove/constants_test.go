package prove_test

import (
	"errors"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
)

// A constant that the ranks can't cut is refused at its axis, with the sizes that can.
func TestConstantsThatDoNotDivide(t *testing.T) {
	constant := func(s schedule.Schedule, from, to schedule.Extent) schedule.Schedule {
		s = scheduletest.Clone(s)
		for i := range s.Tensors {
			for j, a := range s.Tensors[i].Axes {
				if a.Extent == from {
					s.Tensors[i].Axes[j].Extent = to
				}
			}
		}
		return s
	}
	for _, test := range []struct {
		name  string
		s     schedule.Schedule
		ranks []int
		want  string
	}{
		{"columns", constant(catalog.LinearReduceScatter, schedule.K, "8192"), nil,
			"Tensors[0].Axes[1].Extent: 8192 is no multiple of 3 (prove for -ranks 1,2,4,8)"},
		{"rows that only the result cuts", constant(catalog.LinearReduceScatter, schedule.M, "8192"), []int{2, 5},
			"Tensors[2].Axes[0].Extent: 8192 is no multiple of 5 (prove for -ranks 2)"},
		{"one row", constant(catalog.LinearReduceScatter, schedule.M, "1"), []int{2, 3},
			"Tensors[2].Axes[0].Extent: 1 is no multiple of 2 (use a multiple of it)"},
		{"parts", constant(catalog.AllGatherLinearParts, schedule.M, "12"), []int{2, 3, 4},
			"Tensors[0].Axes[0].Extent: 12 is no multiple of 8, 2 parts for each of 4 ranks (prove for -ranks 2,3)"},
		{"what divides", constant(catalog.LinearReduceScatter, schedule.K, "8192"), []int{2, 4, 8}, ""},
		{"what is not cut", constant(catalog.AllGatherLinear, schedule.K, "8191"), []int{2, 3}, ""},
	} {
		p, err := lower.Lower("X", test.s)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: test.ranks})
		var field *schedule.FieldError
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		} else if !errors.As(err, &field) || field.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

// Extents whose products lie beyond an int64 are followed like small ones.
func TestLargeConstants(t *testing.T) {
	large := map[schedule.Extent]schedule.Extent{schedule.M: "262144", schedule.K: "16384", schedule.N: "65536"}
	for name, s := range map[string]schedule.Schedule{"AllGatherLinear": catalog.AllGatherLinear,
		"LinearReduceScatter": catalog.LinearReduceScatter,
		"LinearAllReduce":     catalog.LinearAllReduce} {
		s = scheduletest.Clone(s)
		for i := range s.Tensors {
			for j, a := range s.Tensors[i].Axes {
				if n, ok := large[a.Extent]; ok {
					s.Tensors[i].Axes[j].Extent = n
				}
			}
		}
		if _, err := prove.Schedule(t.Context(), program(t, name, s),
			prove.Options{Ranks: []int{1, 2, 4, 8}}); err != nil {
			t.Error(err)
		}
	}
}
