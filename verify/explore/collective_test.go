package explore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// together adds a collective that reads a chunk of P and writes one of Q, or what sizes say.
func (p *pair) together(s, form string, sent, got int64) {
	p.add(ops.Op{Kind: ops.Collective, Form: form, Stream: s, Uses: []ops.Use{
		{At: ops.Loc{Rank: p.rank, Buffer: "P"}, Bytes: sent * chunk},
		{Write: true, At: ops.Loc{Rank: p.rank, Buffer: "Q"}, Bytes: got * chunk}}})
}

// sum is an all-reduce of a chunk.
func (p *pair) sum(s string) { p.together(s, "all-reduce", 1, 1) }

// set copies this rank's A to a chunk of a rank's P or Q.
func (p *pair) set(s string, rank int, buffer string) {
	p.add(ops.Op{Kind: ops.Copy, Stream: s, Uses: []ops.Use{{At: ops.Loc{Rank: p.rank, Buffer: "A"}, Bytes: chunk},
		{Write: true, At: ops.Loc{Rank: rank, Buffer: buffer}, Bytes: chunk}}})
}

// within fills chunks of Q with this rank's A, and adds a collective that reads them and writes chunks of Q.
func (p *pair) within(form string, from, sent, to, got int64) {
	at := func(write bool, chunks, n int64) ops.Use {
		return ops.Use{Write: write, At: ops.Loc{Rank: p.rank, Buffer: "Q", Offset: chunks * chunk}, Bytes: n * chunk}
	}
	for i := range sent {
		p.add(ops.Op{Kind: ops.Copy, Stream: "main", Uses: []ops.Use{
			{At: ops.Loc{Rank: p.rank, Buffer: "A"}, Bytes: chunk}, at(true, from+i, 1)}})
	}
	p.add(ops.Op{Kind: ops.Collective, Form: form, Stream: "main", Uses: []ops.Use{at(false, from, sent),
		at(true, to, got)}})
}

// exchange fills chunks of P, sends them to the other rank and gets chunks of Q. A part of no bytes is not used.
func (p *pair) exchange(sent, got int64) {
	x := ops.Op{Kind: ops.Collective, Form: "exchange", Stream: "main", To: 1 - p.rank, From: 1 - p.rank}
	for i := range sent {
		p.add(ops.Op{Kind: ops.Copy, Stream: "main", Uses: []ops.Use{
			{At: ops.Loc{Rank: p.rank, Buffer: "A"}, Bytes: chunk},
			{Write: true, At: ops.Loc{Rank: p.rank, Buffer: "P", Offset: i * chunk}, Bytes: chunk}}})
	}
	if sent > 0 {
		x.Uses = append(x.Uses, ops.Use{At: ops.Loc{Rank: p.rank, Buffer: "P"}, Bytes: sent * chunk})
	}
	if got > 0 {
		x.Uses = append(x.Uses, ops.Use{Write: true, At: ops.Loc{Rank: p.rank, Buffer: "Q"}, Bytes: got * chunk})
	}
	p.add(x)
}

// collectives is a program with collectives, and the verdict on it.
type collectives struct {
	name   string
	run    func(p *pair)
	proven prove.Property // that the prover finds broken; empty: none
	broke  explore.Property
	serial bool // it is safe, but not replayed on a device that does one thing at a time
}

var collectivePrograms = []collectives{
	{name: "right", run: func(p *pair) {
		p.set("main", p.rank, "P")
		p.sum("main")
	}},
	{name: "sums where the terms are", run: func(p *pair) { p.within("all-reduce", 0, 1, 0, 1) }},
	{name: "own data at their place", run: func(p *pair) { p.within("all-gather", int64(p.rank), 1, 0, 2) }},
	{name: "own sums at their place", run: func(p *pair) { p.within("reduce-scatter", 0, 2, int64(p.rank), 1) }},
	{name: "own data at another rank's place", run: func(p *pair) {
		p.within("all-gather", int64(1-p.rank), 1, 0, 2)
	}, proven: prove.Bounds, broke: explore.NoRace},
	{name: "own sums at another rank's place", run: func(p *pair) {
		p.within("reduce-scatter", 0, 2, int64(1-p.rank), 1)
	}, proven: prove.Bounds, broke: explore.NoRace},
	{name: "an exchange in place", run: func(p *pair) {
		p.within("all-to-all", 0, 2, 0, 2)
	}, proven: prove.Bounds, broke: explore.NoRace},
	{name: "one sends more than it gets", run: func(p *pair) { p.exchange(int64(1+p.rank), int64(2-p.rank)) }},
	{name: "one gets nothing", run: func(p *pair) { p.exchange(int64(p.rank), int64(1-p.rank)) }},
	{name: "both get nothing", run: func(p *pair) { p.exchange(0, 0) }},
	{name: "one sends more than the other gets", run: func(p *pair) { p.exchange(int64(1+p.rank), 1) },
		proven: prove.Agreement, broke: explore.Agreed},
	{name: "one sends nothing, and the other waits for it", run: func(p *pair) { p.exchange(int64(p.rank), 1) },
		proven: prove.Agreement, broke: explore.Agreed},
	{name: "one sends what the other does not take", run: func(p *pair) { p.exchange(1, int64(p.rank)) },
		proven: prove.Agreement, broke: explore.Agreed},
	{name: "two in turn", run: func(p *pair) {
		p.sum("main")
		p.sync("copy", "main")
		p.together("copy", "all-gather", 1, 2)
		p.sync("main", "copy")
	}},
	{name: "another kind on one rank", run: func(p *pair) {
		p.together("main", []string{"all-to-all", "all-reduce"}[p.rank], 2, 2)
	}, proven: prove.Agreement, broke: explore.Agreed},
	{name: "other counts on one rank", run: func(p *pair) {
		p.together("main", "all-reduce", int64(1+p.rank), int64(1+p.rank))
	}, proven: prove.Agreement, broke: explore.Agreed},
	{name: "on one rank alone", run: func(p *pair) {
		if p.rank == 1 {
			p.sum("main")
		}
	}, proven: prove.Agreement, broke: explore.Agreed},
	{name: "in a branch", run: func(p *pair) {
		p.sum("main")
		if p.rank == 1 {
			p.sum("main")
		}
	}, proven: prove.Agreement, broke: explore.Agreed},
	{name: "swapped on one rank", run: func(p *pair) {
		forms := []string{"all-reduce", "all-to-all"}
		p.together("main", forms[p.rank], 2, 2)
		p.together("main", forms[1-p.rank], 2, 2)
	}, proven: prove.Agreement, broke: explore.Agreed},
	{name: "two at once", run: func(p *pair) {
		p.sync("copy", "main")
		p.together("main", "all-reduce", 1, 1)
		p.together("copy", "all-reduce", 1, 1)
		p.sync("main", "copy")
	}, proven: prove.Agreement, broke: explore.NoRace},
	{name: "what is sent is overwritten before the end", run: func(p *pair) {
		p.sync("copy", "main")
		p.sum("copy")
		p.set("main", p.rank, "P")
		p.sync("main", "copy")
	}, proven: prove.Race, broke: explore.NoRace},
	{name: "the result is overwritten before the begin", run: func(p *pair) {
		p.sync("copy", "main")
		p.set("main", p.rank, "Q")
		p.sum("copy")
		p.sync("main", "copy")
	}, proven: prove.Race, broke: explore.NoRace},
	{name: "a wait holds up the collective that its post needs", run: func(p *pair) {
		if p.rank == 0 {
			p.wait("main", "x")
			p.sum("main")
			return
		}
		p.sum("main")
		p.post("main", "x")
	}, proven: prove.Deadlock, broke: explore.NoDeadlock},
	{name: "a post beside the collective", run: func(p *pair) {
		p.post("main", "ready")
		p.wait("main", "ready")
		p.sync("copy", "main")
		p.sum("copy")
		if p.rank == 0 {
			p.wait("main", "x")
		} else {
			p.post("main", "x")
		}
		p.sync("main", "copy")
	}, serial: true},
	{name: "a post behind which the collective comes", run: func(p *pair) {
		p.post("main", "ready")
		p.wait("main", "ready")
		if p.rank == 1 {
			p.post("main", "x")
		}
		p.sync("copy", "main")
		p.sum("copy")
		if p.rank == 0 {
			p.wait("main", "x")
		}
		p.sync("main", "copy")
	}},
	{name: "a collective tells that a peer has begun", run: func(p *pair) {
		p.post("main", "ready")
		p.wait("main", "ready")
		if p.rank == 0 {
			p.set("main", 1, "P") // rank 1 reads it behind the collective
		}
		p.add(ops.Op{Kind: ops.Collective, Form: "all-reduce", Stream: "main", Uses: []ops.Use{
			{At: ops.Loc{Rank: p.rank, Buffer: "A"}, Bytes: chunk},
			{Write: true, At: ops.Loc{Rank: p.rank, Buffer: "Q", Offset: chunk}, Bytes: chunk}}})
		if p.rank == 1 {
			p.add(ops.Op{Kind: ops.Copy, Stream: "main", Uses: []ops.Use{
				{At: ops.Loc{Rank: 1, Buffer: "P"}, Bytes: chunk},
				{Write: true, At: ops.Loc{Rank: 1, Buffer: "Q"}, Bytes: chunk}}})
		}
		p.post("main", "read")
		p.wait("main", "read")
	}},
	{name: "it does not tell that a peer has ended", run: func(p *pair) {
		p.post("main", "ready")
		p.wait("main", "ready")
		p.sum("main")
		if p.rank == 1 {
			p.set("main", 0, "Q") // which rank 0's collective may still write
		}
		p.post("main", "read")
		p.wait("main", "read")
	}, proven: prove.Race, broke: explore.NoRace},
}

// Both checkers give each program with collectives its verdict.
func TestCollectives(t *testing.T) {
	for _, c := range collectivePrograms {
		t.Run(c.name, c.judge)
	}
}

func (c collectives) judge(t *testing.T) {
	sys := system(c.run)
	program, replay := looked(sys)
	if (c.broke == "") != program.Safe() || c.broke != "" && !program.Broke(c.broke) {
		t.Errorf("explorer: want %q: %s", c.broke, print(sys, program))
	}
	if c.broke == "" && replay.Safe() == c.serial {
		t.Errorf("explorer, replayed: %s", print(sys, replay))
	}
	size, err := prove.Lists(context.Background(), model(sys), sys.Ranks, 2)
	var refused *prove.Counterexample
	if errors.As(err, &refused) {
		if refused.Property != c.proven {
			t.Errorf("prover: want %q: %v", c.proven, err)
		}
		return
	}
	if err != nil || c.proven != "" {
		t.Errorf("prover: want %q: %v", c.proven, err)
	} else if (size.Captured != nil) != c.serial {
		t.Errorf("prover, captured: %v", size.Captured)
	} else if c.serial && !strings.Contains(size.Captured.Problem, "waits and collectives can hold") {
		t.Errorf("prover, captured: a collective holds the device, and it says: %v", size.Captured)
	}
}
