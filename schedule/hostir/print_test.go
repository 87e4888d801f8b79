package hostir_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The texts in testdata are the programs that the project was specified by: the two
// that nvFuser runs, the first over IPC, and the one ovgen runs by default.
func TestPrint(t *testing.T) {
	nvfuser := catalog.AllGatherLinear
	nvfuser.Moves = []schedule.Move{{Of: "A", Way: schedule.Naive{
		Copied: true, SignalsInStep: true, HandlesInLoop: true, WithStep: true, Streams: 4}}}
	for file, s := range map[string]schedule.Schedule{
		"program1.txt": catalog.AllGatherLinearCollective8,
		"program2.txt": nvfuser,
		"program3.txt": catalog.AllGatherLinear,
	} {
		t.Run(file, func(t *testing.T) {
			p, err := lower.Lower("AllGatherLinear", s)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile("testdata/"+file, []byte(hostir.Print(p)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), hostir.Print(p)); diff != "" {
				t.Errorf("printed program differs (-want +got):\n%s", diff)
			}
		})
	}
}
