package edges_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/edges"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/sampling"
)

// TestProgramsHaveTheirEdges: what the placements of a schedule ask for is what its program moves. The schedules are
// those of the catalogue, each with one field set otherwise, and random ones.
func TestProgramsHaveTheirEdges(t *testing.T) {
	var all []schedule.Schedule
	lowered := 0
	check := func(name string, s schedule.Schedule) {
		ok, err := agree(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ok {
			lowered++
		}
	}
	for i, n := range catalog.All() {
		all = append(all, n.Schedule)
		check(n.Name, n.Schedule)
		for j, c := range scheduletest.Changes(n.Schedule) {
			if !sampling.Takes(i+j, 4) {
				continue
			}
			check(n.Name+", "+c.Name, c.Schedule)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		d := scheduletest.Random(r, all)
		check(fmt.Sprintf("%+v", d.Schedule), d.Schedule)
	}
	if least := 1000; lowered < least {
		t.Errorf("%d schedules are lowered, want %d", lowered, least)
	}
}

// agree compares the edges of a schedule with the communications of its program; ok: there is one.
func agree(s schedule.Schedule) (ok bool, err error) {
	p, err := lower.Lower("X", s)
	if err != nil {
		return false, nil
	}
	var want, got []string
	for _, m := range lower.Read(p) {
		want = append(want, m.Of+": "+kindOf(m.Communication))
	}
	list, err := edges.All(s.Joined().Apart())
	if err != nil {
		return true, err
	}
	for _, e := range list {
		got = append(got, e.Of+": "+string(e.Kind))
	}
	slices.Sort(want) // a weight comes before the rows that it multiplies
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		return true, fmt.Errorf("the program (-) has not the edges (+):\n%s", diff)
	}
	return true, nil
}

// kindOf is the kind of edge of a communication.
func kindOf(communication string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(communication, "bare "), " ")
	return name
}
