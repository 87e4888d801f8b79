package explore_test

import (
	"strings"
	"testing"

	"ovgen/verify/explore"
	"ovgen/verify/ops"
)

// pair builds the operations of two ranks that do the same to each other.
type pair struct {
	rank int
	list []ops.Op
	step int
}

func (p *pair) word(owner int, sem string) ops.Loc {
	return ops.Loc{Rank: owner, Buffer: sem, Offset: 4 * int64(1-owner)}
}

func (p *pair) add(o ops.Op) {
	p.step++
	o.Step = p.step
	p.list = append(p.list, o)
}

func (p *pair) post(s, sem string) {
	p.add(ops.Op{Kind: ops.Signal, Stream: s, Words: []ops.Word{{Write: true, Value: 1, At: p.word(1-p.rank, sem)}}})
}

func (p *pair) wait(s, sem string) {
	at := p.word(p.rank, sem)
	p.add(ops.Op{Kind: ops.Signal, Stream: s, Words: []ops.Word{{At: at, Value: 1}, {Write: true, At: at}}})
}

func (p *pair) pull(s string, slot int64) {
	p.add(ops.Op{Kind: ops.Copy, Stream: s, Uses: []ops.Use{
		{At: ops.Loc{Rank: 1 - p.rank, Buffer: "A"}, Bytes: chunk},
		{Write: true, At: ops.Loc{Rank: p.rank, Buffer: "P", Offset: slot * chunk}, Bytes: chunk}}})
}

func (p *pair) sync(s, on string) {
	p.step++
	p.list = append(p.list, ops.Op{Kind: ops.Record, Stream: on, Event: p.step},
		ops.Op{Kind: ops.WaitEvent, Stream: s, Event: p.step})
}

func system(f func(p *pair), modes ...explore.Mode) explore.System {
	s := explore.System{Modes: modes}
	for r := range 2 {
		p := &pair{rank: r}
		p.list = append(p.list, ops.Op{Kind: ops.After, Stream: "main"})
		f(p)
		s.Ranks = append(s.Ranks, append(p.list, ops.Op{Kind: ops.Done, Stream: "main"}))
		s.Memory = append(s.Memory, explore.Buffer{Input: true,
			Use: ops.Use{At: ops.Loc{Rank: r, Buffer: "A"}, Bytes: chunk}})
	}
	return s
}

type historyCase struct {
	name  string
	run   func(p *pair)
	broke explore.Property // empty: safe
	text  string
}

var historyCases = []historyCase{
	{"right", func(p *pair) {
		p.post("main", "ready")
		p.wait("main", "ready")
		p.pull("main", 0)
		p.post("main", "read")
		p.wait("main", "read")
	}, "", ""},
	{"no acknowledgement before reuse", func(p *pair) {
		p.post("main", "ready")
		p.wait("main", "ready")
		p.pull("main", 0)
	}, explore.NoRace, "caller: write A"},
	{"a post again before the reset", func(p *pair) { // where rank 1 is a run ahead
		if p.rank == 1 {
			p.post("main", "free")
		} else {
			p.wait("main", "free")
		}
	}, explore.NoDeadlock, "run 2, rank 0, main, step 1: wait free@0"},
	{"a post taken by the other stream", func(p *pair) { // where copy is the first to look
		if p.rank == 1 {
			p.post("main", "x")
			p.wait("main", "y")
			p.post("main", "x")
			return
		}
		p.sync("copy", "main")
		p.wait("main", "x")
		p.post("main", "y")
		p.wait("copy", "x")
		p.sync("main", "copy")
	}, explore.NoDeadlock, "wait x@0"},
	{"one semaphore shared by two streams", func(p *pair) {
		p.sync("copy", "main")
		p.post("main", "ready")
		p.post("copy", "ready")
		p.wait("main", "ready")
		p.wait("copy", "ready")
		p.pull("copy", 0)
		p.sync("main", "copy")
		p.post("main", "read")
		p.wait("main", "read")
	}, explore.OnePost, "ready@"},
	{"a wait resolved by a moved index", func(p *pair) {
		p.post("main", "ready")
		at := p.word(p.rank, "ready")
		at.Offset = 4 * int64(p.rank) // the index has moved on: the own word, which nobody posts
		p.add(ops.Op{Kind: ops.Signal, Stream: "main", Words: []ops.Word{{At: at, Value: 1},
			{Write: true, At: at}}})
		p.pull("main", 0)
		p.post("main", "read")
		p.wait("main", "read")
	}, explore.NoDeadlock, "ready@"},
	{"a wait on the value of the run before", func(p *pair) {
		p.post("main", "ready")
		at := p.word(p.rank, "ready")
		p.add(ops.Op{Kind: ops.Signal, Stream: "main", Words: []ops.Word{{At: at, Value: 1}}}) // never reset
		p.pull("main", 0)
		p.post("main", "read")
		p.wait("main", "read")
	}, explore.OnePost, "holds 1 already"},
	{"a join that is missing", func(p *pair) {
		p.post("main", "ready")
		p.sync("copy", "main")
		p.wait("copy", "ready")
		p.pull("copy", 0)
		p.post("copy", "read")
		p.wait("main", "read")
	}, explore.Capturable, "does not join copy"},
}

// The bugs that overlap code has shipped with, small; each next to the right program.
func TestHistory(t *testing.T) {
	for _, c := range historyCases {
		t.Run(c.name, c.test)
	}
}

func (c historyCase) test(t *testing.T) {
	mode := explore.Eager
	if c.broke == explore.Capturable {
		mode = explore.Captured
	}
	v := explore.Explore(system(c.run, mode, mode))
	if c.broke == "" {
		safe(t, v)
		return
	}
	for _, x := range v.Violations {
		if x.Property == c.broke && strings.Contains(x.Text, c.text) {
			t.Logf("%s: %s", x.Property, x.Text)
			return
		}
	}
	t.Errorf("want %s broken with %q, got %v", c.broke, c.text, v.Violations)
}

// Two ranks with branches {wait} and {post} that nothing orders: right while both
// branches run, a deadlock where a device takes the wait first and nothing beside it.
func TestSerial(t *testing.T) {
	branches := func(first, second func(p *pair)) func(p *pair) {
		return func(p *pair) {
			p.sync("copy", "main")
			first(p)
			second(p)
			p.sync("main", "copy")
		}
	}
	wait, post := func(p *pair) { p.wait("copy", "x") }, func(p *pair) { p.post("main", "x") }
	waitFirst, postFirst := branches(wait, post), branches(post, wait)
	safe(t, explore.Explore(system(waitFirst, explore.Eager)))
	safe(t, explore.Explore(system(waitFirst, explore.Captured)))
	safe(t, explore.Explore(system(postFirst, explore.InOrder)))
	if v := explore.Explore(system(waitFirst, explore.InOrder)); !v.Broke(explore.NoDeadlock) {
		t.Errorf("in order, wait first: %v", v)
	}
	for name, f := range map[string]func(p *pair){"wait first": waitFirst, "post first": postFirst} {
		if v := explore.ExploreSerial(system(f, explore.Captured)); !v.Broke(explore.Serial) {
			t.Errorf("graph, %s: %v", name, v)
		}
	}
	ordered := func(p *pair) {
		p.post("main", "x")
		p.sync("copy", "main")
		p.wait("copy", "x")
		p.sync("main", "copy")
	}
	safe(t, explore.ExploreSerial(system(ordered, explore.Captured)))
}
