package explore_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"ovgen/schedule/hostir"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

// model is what small systems are, in the prover's words.
var model = prove.Model{
	Program:    "small",
	Semaphores: []string{"ready", "read", "x", "y"},
	Buffers: []prove.Buffer{
		{Name: "A", Owner: hostir.Caller, Shared: true, Bytes: chunk},
		{Name: "P", Owner: hostir.Plan, Bytes: 2 * chunk},
		{Name: "Q", Owner: hostir.Plan, Bytes: 2 * chunk},
	},
}

// looked is the explorer's opinion: of the program, and of its replay on a device
// that takes one operation at a time.
func looked(sys explore.System) (program, replay explore.Verdict) {
	for _, m := range []explore.Mode{explore.Eager, explore.Captured, explore.InOrder} {
		sys.Modes = []explore.Mode{m, m}
		if program = explore.Explore(sys); !program.Safe() {
			return program, program
		}
	}
	sys.Modes = []explore.Mode{explore.Captured, explore.Captured}
	return program, explore.ExploreSerial(sys)
}

// Prover and explorer say the same of random programs.
func TestAgreement(t *testing.T) {
	count := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		sys := small(t, 5)
		program, replay := looked(sys)
		if !program.Complete || !replay.Complete {
			count["too large"]++
			return
		}
		size, err := prove.Lists(context.Background(), model, sys.Ranks, 2)
		var refused *prove.Counterexample
		switch {
		case err != nil && !errors.As(err, &refused):
			t.Fatal(err)
		case (err == nil) != program.Safe():
			t.Fatalf("prover: %v\nexplorer: %s", err, print(sys, program))
		case err != nil:
			count["refused: "+string(refused.Property)]++
			return
		}
		count["proven"]++
		if (size.Captured == nil) != replay.Safe() {
			t.Fatalf("replay: prover: %v\nexplorer: %s", size.Captured, print(sys, replay))
		}
		if !replay.Safe() {
			count["proven, without replay"]++
		}
	})
	for what, n := range count {
		t.Logf("%5d %s", n, what)
	}
}
