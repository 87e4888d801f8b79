package passes_test

import (
	"fmt"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// The field of each node of each program is the operations, the moves, the mesh, or an option that a move's way has.
func TestOrigins(t *testing.T) {
	for _, n := range catalog.All() {
		p, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		fields := fieldsOf(p)
		if len(fields) == 0 {
			t.Errorf("%s: no field", n.Name)
		}
		for _, f := range fields {
			if !slices.Contains(append(paths(p.Schedule), "Ops", "Moves", "Mesh"), f) {
				t.Errorf("%s: field %q is not of the schedule", n.Name, f)
			}
		}
	}
}

// Fields name the option of the way that asked, and the moves where the way has no such option.
func TestFieldsOfWays(t *testing.T) {
	block := scheduletest.Clone(catalog.BlockBehindAttention)
	block.Moves = []schedule.Move{{Of: "R", Way: schedule.Shot{}}, {Of: "X", Way: schedule.Pull{By: schedule.Kernels}}}
	for _, test := range []struct {
		name      string
		s         schedule.Schedule
		has, lack []string
	}{
		{"pull", catalog.AllGatherLinear, []string{"Ops", "Moves"},
			[]string{"Moves[0].Way.StartInLoop", "Moves[0].Way.HandlesInLoop", "Moves[0].Way.WithStep"}},
		{"naive", scheduletest.By(catalog.AllGatherLinear, "A", schedule.Naive{StartInLoop: true, HandlesInLoop: true}),
			[]string{"Moves[0].Way.StartInLoop", "Moves[0].Way.HandlesInLoop"}, nil},
		{"one launch", scheduletest.By(catalog.AllGatherLinear, "A", schedule.Push{By: schedule.OneKernel}),
			[]string{"Moves[0].Way.By"}, nil},
		{"one launch of a sum", scheduletest.By(catalog.AllReduceOneShot, "C",
			schedule.Shot{Signals: schedule.OneKernel}),
			[]string{"Moves[0].Way.Signals"}, nil},
		{"one launch of a sum beside copies", block, []string{"Moves[0].Way.Signals"}, []string{"Moves[1].Way.By"}},
		{"only functions and products", catalog.GatedMLP, []string{"Ops"}, nil},
	} {
		p, err := lower.Lower("X", test.s)
		if err != nil {
			t.Fatal(err)
		}
		fields := fieldsOf(p)
		for _, f := range test.has {
			if !slices.Contains(fields, f) {
				t.Errorf("%s: fields %q, want %s", test.name, fields, f)
			}
		}
		for _, f := range test.lack {
			if slices.Contains(fields, f) {
				t.Errorf("%s: a field is %s", test.name, f)
			}
		}
		hostir.Steps(p.Body, func(s hostir.Step) {
			if s.Kind() == hostir.ApplyKind && s.Field != "Ops" {
				t.Errorf("%s: a function is asked for by %s", test.name, s.Field)
			}
		})
	}
}

// fieldsOf are the fields of the nodes that work, synchronize and share.
func fieldsOf(p *hostir.Program) (list []string) {
	add := func(n hostir.Node) {
		switch n.(type) {
		case hostir.Step, hostir.Synchronize, hostir.Share:
			list = append(list, n.Source().Field)
		}
	}
	hostir.Walk(p.Setup, add)
	hostir.Walk(p.Body, add)
	return list
}

// paths are the options of a schedule's ways.
func paths(s schedule.Schedule) (list []string) {
	for i, m := range s.Moves {
		for _, o := range schedule.Options(m.Way) {
			list = append(list, fmt.Sprintf("Moves[%d].Way.%s", i, o.Field))
		}
	}
	return list
}
