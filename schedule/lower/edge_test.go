package lower_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// A program has an edge for each of its communications, which says who asked for its way.
func TestEdges(t *testing.T) {
	s := catalog.TensorParallelMLP
	s.Moves = []schedule.Move{{Of: "C", Way: schedule.Slots{By: schedule.Kernels}}}
	const h, c = "H = linear(A, B), bias(Bias), gelu", "C = linear(H, B2)"
	slots := hostir.Edge{Of: "C", Kind: "reduce-scatter", Data: "rows", Path: "Moves[0].Way", Way: s.Moves[0].Way,
		Default: schedule.Slots{}, Steps: "C", Carrier: hostir.Carrier{Copies: true, Signals: true},
		Products: []string{h, c}}
	get := hostir.Edge{Of: "A", Kind: "all-gather", Data: "rows", Way: schedule.Pull{},
		Default: schedule.Pull{}, Steps: "Agathered", Products: []string{h, c}}
	edges(t, s, get, slots)

	s.Moves = append(s.Moves, schedule.Move{Of: "A", Way: schedule.GatherShot{}})
	get.Path, get.Way = "Moves[1].Way", schedule.GatherShot{}
	get.Carrier = hostir.Carrier{Signals: true, Fused: true, ByBlocks: true}
	edges(t, s, get, slots)

	edges(t, catalog.AllGather, hostir.Edge{Of: "A", Kind: "all-gather", Data: "rows alone", Way: schedule.Pull{},
		Default: schedule.Pull{}, Steps: "C"})
}

func edges(t *testing.T, s schedule.Schedule, want ...hostir.Edge) {
	t.Helper()
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, p.Edges); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, e := range p.Edges {
		if len(p.StepsOf(e)) == 0 {
			t.Errorf("%s has no steps", e.Of)
		}
	}
}

// TestStepsHaveTheirEdge: each step that signals or reaches another rank belongs to an edge, whose carrier it has.
func TestStepsHaveTheirEdge(t *testing.T) {
	var list []schedule.Schedule
	for _, n := range catalog.All() {
		list = append(list, n.Schedule)
	}
	r, of := rand.New(rand.NewPCG(5, 6)), list
	for range 500 {
		list = append(list, scheduletest.Random(r, of).Schedule)
	}
	for _, s := range list {
		p, err := lower.Lower("X", s)
		if err != nil {
			continue
		}
		hostir.Steps(p.Body, func(x hostir.Step) {
			if (len(x.Words()) > 0 || x.Remote()) && p.EdgeOf(x).Of == "" {
				t.Errorf("%v of %v: no edge has %s", s.Moves, s.Ops,
					hostir.Print(&hostir.Program{Body: []hostir.Node{x}}))
			}
		})
	}
}
