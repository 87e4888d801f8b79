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

// model is a small system in the prover's words: what its operations use.
func model(sys explore.System) prove.Model {
	used := map[string]bool{}
	for _, list := range sys.Ranks {
		for _, o := range list {
			for _, w := range o.Words {
				used[w.At.Buffer] = true
			}
			for _, u := range o.Uses {
				used[u.At.Buffer] = true
			}
		}
	}
	m := prove.Model{Program: "small", Members: map[string]int64{"z": 2}}
	for _, name := range []string{"ready", "read", "x", "y", "z"} {
		if used[name] {
			m.Semaphores = append(m.Semaphores, name)
		}
	}
	for _, b := range []prove.Buffer{
		{Name: "A", Owner: hostir.Caller, Shared: true, Bytes: chunk},
		{Name: "P", Owner: hostir.Plan, Bytes: 2 * chunk},
		{Name: "Q", Owner: hostir.Plan, Bytes: 2 * chunk},
	} {
		if used[b.Name] {
			m.Buffers = append(m.Buffers, b)
		}
	}
	return m
}

// looked is the explorer's opinion: of the program, and of its replay on a device
// that takes one operation at a time.
func looked(sys explore.System) (program, replay explore.Verdict) {
	sys.First = true
	for _, m := range []explore.Mode{explore.Eager, explore.Captured, explore.InOrder} {
		sys.Modes = []explore.Mode{m, m}
		if program = explore.Explore(sys); !program.Safe() {
			return program, program
		}
	}
	sys.Modes = []explore.Mode{explore.Captured, explore.Captured}
	return program, explore.ExploreSerial(sys)
}

// undecided reports whether nothing was found in a search that was not finished.
func undecided(v explore.Verdict) bool { return !v.Complete && len(v.Violations) == 0 }

// Two waits of one word on two streams, of which the second is after the second post
// and not after the reset of the first: it may take the first post. It was the first
// program that prover and explorer disagreed on.
func TestTwoWaits(t *testing.T) {
	sys := system(func(p *pair) {
		p.post("main", "ready")
		p.wait("main", "ready")
		p.sync("copy", "main")
		if p.rank == 0 {
			p.post("main", "y")
			p.post("main", "x")
			p.wait("copy", "x")
			p.post("copy", "y")
		} else {
			p.wait("main", "y")
			p.wait("copy", "x")
			p.post("main", "x")
			p.wait("copy", "y")
		}
		p.sync("main", "copy")
		p.post("main", "read")
		p.wait("main", "read")
	})
	program, _ := looked(sys)
	if !program.Broke(explore.OnePost) {
		t.Errorf("explorer: %s", print(sys, program))
	}
	if _, err := prove.Lists(context.Background(), model(sys), sys.Ranks, 2); err == nil {
		t.Errorf("the prover accepts it:\n%s", print(sys, program))
	}
}

// Prover and explorer say the same of random programs.
func TestAgreement(t *testing.T) {
	count := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		sys := small(t, 5)
		program, replay := looked(sys)
		if undecided(program) || undecided(replay) {
			count["too large"]++
			return
		}
		size, err := prove.Lists(context.Background(), model(sys), sys.Ranks, 2)
		var refused *prove.Counterexample
		if errors.As(err, &refused) && refused.Form == "captured" { // a kernel waits
			size, err = &prove.Size{Captured: refused}, nil
		}
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
