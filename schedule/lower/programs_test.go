package lower_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The host program of each schedule of the catalog, as `ovgen show` prints it.
func TestPrograms(t *testing.T) {
	for _, n := range catalog.All() {
		t.Run(n.Name, func(t *testing.T) {
			p, err := lower.Lower(n.Name, n.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			file, got := filepath.Join("testdata", n.Name+".txt"), hostir.Print(p)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test ./schedule/lower -run TestPrograms -update)", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("printed program differs (-want +got):\n%s", diff)
			}
		})
	}
}

// What reductions can't read is refused with its field.
func TestReductionsRefused(t *testing.T) {
	tests := []struct {
		name, path string
		change     func(*schedule.Schedule)
	}{
		{"bias", "Tensors[3]", func(s *schedule.Schedule) {
			s.Tensors = append(s.Tensors[:3:3], schedule.Tensor{Name: "Bias", Axes: []schedule.Axis{schedule.Dim(schedule.N)}})
		}},
		{"get into slots by the product", "Pipeline.Reduction", func(s *schedule.Schedule) {
			s.Pipeline = schedule.Pipeline{Protocol: schedule.Get, Reduction: schedule.InSlot}
		}},
		{"ring that sums at the end", "Pipeline.Reduction", func(s *schedule.Schedule) {
			s.Pipeline = schedule.Pipeline{Order: schedule.Ring, Protocol: schedule.Get}
		}},
		{"parts", "Pipeline.Parts", func(s *schedule.Schedule) { s.Pipeline.Parts = 2 }},
		{"broadcast", "Pipeline.Kind", func(s *schedule.Schedule) { s.Pipeline.Kind = schedule.Broadcast }},
		{"copies with the step", "Streams.Copy", func(s *schedule.Schedule) { s.Streams.Copy = schedule.WithStep }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := catalog.LinearReduceScatter
			test.change(&s)
			_, err := lower.Lower("X", s)
			errs := schedule.FieldErrors(err)
			if len(errs) != 1 || errs[0].Path != test.path {
				t.Errorf("got %v, want one error at %s", err, test.path)
			}
		})
	}
}
