package emit

import (
	"strings"
	"testing"

	"ovgen/schedule"
)

// Check of a package whose tensors have more axes than two takes as many of its extents together.
func TestAxes(t *testing.T) {
	rows := func(name string) schedule.Tensor {
		return schedule.Tensor{Name: name, Axes: []schedule.Axis{schedule.Dim("4"), schedule.Dim(schedule.F),
			schedule.Dim(schedule.M), schedule.Dim(schedule.N)}}
	}
	batches := schedule.Schedule{Tensors: []schedule.Tensor{rows("A"), rows("C")},
		Ops: []schedule.Op{schedule.Copy("C", "A", schedule.SiLU())}}
	files, err := Packages([]Input{program(t, "Batches", batches), program(t, "Plain", matmul())},
		Options{ImportPath: "example.com/user/made", Compiler: fake{}})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{"batches/program.go": true, "plain/program.go": false} {
		if got := strings.Contains(string(files[file]), "Axes:      4,"); got != want {
			t.Errorf("%s has Axes: %t, want %t", file, got, want)
		}
	}
}
