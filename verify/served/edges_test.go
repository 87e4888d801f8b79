package served

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule/edges"
	"ovgen/schedule/lower"
)

// wanted is the file with the edges that the placements of the engines' schedules ask for.
const wanted = "testdata/edges.txt"

// TestEdgesOfEngines holds the edges of each schedule that is valid, served or not.
func TestEdgesOfEngines(t *testing.T) {
	var text strings.Builder
	for _, e := range engines {
		if e.Validate() != nil {
			continue
		}
		list, err := edges.All(e.Schedule.Joined())
		for _, x := range list {
			fmt.Fprintf(&text, "%s: %v\n", e.name, x)
		}
		if err != nil {
			fmt.Fprintf(&text, "%s: refused at %v\n", e.name, err)
		} else if len(list) == 0 {
			fmt.Fprintf(&text, "%s: nothing travels\n", e.name)
		}
	}
	if *update {
		if err := os.WriteFile(wanted, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(wanted)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("the edges of %s differ (-want +got); -update writes them:\n%s", wanted, diff)
	}
}

// TestProgramsHaveTheirEdges: what is lowered moves the tensors that its placements ask for, in the order of the
// operations.
func TestProgramsHaveTheirEdges(t *testing.T) {
	list := all
	for _, e := range engines {
		list = append(list, declared{id: e.name, form: form{e.Schedule}})
	}
	for _, d := range list {
		p, err := lower.Lower("X", d.Schedule)
		if err != nil {
			continue
		}
		var want, got []string
		for _, m := range lower.Read(p) {
			name, _, _ := strings.Cut(strings.TrimPrefix(m.Communication, ""), " ")
			want = append(want, m.Of+": "+name)
		}
		found, err := edges.All(d.Schedule.Joined().Apart())
		if err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
		for _, e := range found {
			got = append(got, e.Of+": "+string(e.Kind))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the program (-) has not the edges (+):\n%s", d.id, diff)
		}
	}
}
