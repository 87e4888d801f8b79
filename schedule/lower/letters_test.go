package lower_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// Other letters for the same contraction make the same program.
func TestLetters(t *testing.T) {
	relettered := strings.NewReplacer("m", "x", "k", "a", "n", "m", "d...", "r...")
	for _, n := range catalog.All() {
		want, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		s := scheduletest.Clone(n.Schedule)
		for i, o := range s.Ops {
			s.Ops[i].Index = relettered.Replace(o.Index)
			if a, declared := s.Tensor(o.In[0]); o.Name() == "copy" || o.Name() == "sum" {
				letters := "xy" // of a matrix between two operations
				if !declared && o.Name() == "copy" {
					a, declared = s.Tensor(o.Out)
				}
				if declared {
					letters = "xyzu"[:len(a.Axes)]
				}
				s.Ops[i].Index = letters + "->" + letters
				if o.Name() == "sum" {
					s.Ops[i].Index = letters + "->" + letters[1:]
				}
			}
			if s.Ops[i].Index == o.Index {
				t.Fatalf("%s: operation %d has its letters still", n.Name, i)
			}
		}
		got, err := lower.Lower(n.Name, s)
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
			continue
		}
		if diff := cmp.Diff(hostir.Print(want), hostir.Print(got)); diff != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s (-usual letters +others):\n%s", n.Name, diff)
		}
	}
}

// Contractions that are not lowered are refused at their Index.
func TestContractionsRefused(t *testing.T) {
	square := schedule.Dim(schedule.M)
	for _, test := range []struct {
		name, index, want string
		in                int
	}{
		{"a result the other way round", "mk,nk->nm",
			`Ops[0].Index: no pass lowers the contraction "mk,nk->nm" (use linear "mk,nk->mn", matmul `, 2},
		{"both operands the other way round", "km,nk->mn",
			`Ops[0].Index: no pass lowers the contraction "km,nk->mn" `, 2},
		{"no sum", "mn,mn->mn", `Ops[0].Index: no pass lowers the contraction "mn,mn->mn" `, 2},
		{"a transposed copy", "mn->nm", `Ops[0].Index: no pass lowers the contraction "mn->nm" `, 1},
		{"a sum of both axes", "mn->", `Ops[0].Index: no pass lowers the contraction "mn->" `, 1},
	} {
		s := schedule.Schedule{Tensors: []schedule.Tensor{{Name: "A", Axes: []schedule.Axis{square, square}}},
			Ops: []schedule.Op{{Out: "C", Index: test.index, In: []string{"A", "B"}[:test.in]}}}
		if test.in == 2 {
			s.Tensors = append(s.Tensors, schedule.Tensor{Name: "B", Axes: []schedule.Axis{square, square}})
		}
		c := schedule.Tensor{Name: "C", Axes: []schedule.Axis{square, square}}
		if strings.HasSuffix(test.index, ">") {
			c.Axes = nil
		}
		s.Tensors = append(s.Tensors, c)
		if _, err := lower.Lower("X", s); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	// A sum is over the ranks: over another axis it is no contraction that is lowered.
	s := scheduletest.Clone(catalog.ReduceScatter)
	s.Ops[0].Index = "abc->bc"
	s.Tensors[0].Axes[0].Extent = schedule.K
	want := `Ops[0].Index: no pass lowers the contraction "abc->bc" `
	if _, err := lower.Lower("X", s); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a sum over columns: %v, want %q", err, want)
	}
}
