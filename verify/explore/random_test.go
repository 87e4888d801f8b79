package explore_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/sampling"
)

// chunk is the size of everything that small programs copy.
const chunk = 4

// small draws a small system: a few copies, signals and synchronisations of two or
// three ranks, laid out in one global order and then spread over streams, so that
// many are safe; often one operation is left out.
func small(t *rapid.T, most int) explore.System {
	d := &drawing{T: t, ranks: rapid.SampledFrom([]int{2, 2, 3}).Draw(t, "ranks"),
		streams: rapid.IntRange(1, 3).Draw(t, "streams")}
	d.lists, d.events, d.step = make([][]ops.Op, d.ranks), make([]int, d.ranks), make([]int, d.ranks)
	for r := range d.ranks {
		d.put(r, ops.Op{Kind: ops.After, Stream: "main"})
	}
	if rapid.IntRange(0, 3).Draw(t, "ready") > 0 {
		d.barrier("ready", "main")
	}
	for r := range d.ranks {
		for s := 1; s < d.streams; s++ {
			if rapid.IntRange(0, 24).Draw(t, "fork") > 0 {
				d.sync(r, name(s), "main")
			}
		}
	}
	for n := rapid.IntRange(1, most).Draw(t, "length"); n > 0; n-- {
		d.action()
	}
	for r := range d.ranks {
		for s := 1; s < d.streams; s++ {
			if rapid.IntRange(0, 24).Draw(t, "join") > 0 {
				d.sync(r, "main", name(s))
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "read") > 0 {
		d.barrier("read", "main")
	}
	for r := range d.ranks {
		d.put(r, ops.Op{Kind: ops.Done, Stream: "main"})
	}
	d.drop()
	sys := explore.System{Ranks: d.lists}
	for r := range d.ranks {
		sys.Memory = append(sys.Memory, explore.Buffer{Input: true,
			Use: ops.Use{At: ops.Loc{Rank: r, Buffer: "A"}, Bytes: chunk}})
		for _, name := range []string{"P", "Q"} {
			sys.Memory = append(sys.Memory, explore.Buffer{Plan: true,
				Use: ops.Use{At: ops.Loc{Rank: r, Buffer: name}, Bytes: 2 * chunk}})
		}
	}
	return sys
}

func name(s int) string {
	if s == 0 {
		return "main"
	}
	return fmt.Sprintf("work[%d]", s)
}

type drawing struct {
	*rapid.T
	ranks, streams int
	lists          [][]ops.Op
	events, step   []int
}

func (d *drawing) rank(label string) int { return rapid.IntRange(0, d.ranks-1).Draw(d.T, label) }

func (d *drawing) stream() string { return name(rapid.IntRange(0, d.streams-1).Draw(d.T, "stream")) }

func (d *drawing) put(r int, o ops.Op) {
	switch o.Kind {
	case ops.Signal, ops.Copy, ops.Product, ops.Sum, ops.Collective:
		d.step[r]++
		o.Step = d.step[r]
	}
	d.lists[r] = append(d.lists[r], o)
}

func (d *drawing) sync(r int, s, on string) {
	d.put(r, ops.Op{Kind: ops.Record, Stream: on, Event: d.events[r]})
	d.put(r, ops.Op{Kind: ops.WaitEvent, Stream: s, Event: d.events[r]})
	d.events[r]++
}

func (d *drawing) post(r int, s, sem string, to ...int) {
	o := ops.Op{Kind: ops.Signal, Stream: s}
	for _, q := range to {
		o.Words = append(o.Words, ops.Word{Write: true, Value: 1, At: ops.Loc{Rank: q, Buffer: sem,
			Offset: 4 * int64(r)}})
	}
	d.put(r, o)
}

func (d *drawing) wait(r int, s, sem string, from ...int) {
	o := ops.Op{Kind: ops.Signal, Stream: s}
	for _, q := range from {
		at := ops.Loc{Rank: r, Buffer: sem, Offset: 4 * int64(q)}
		o.Words = append(o.Words, ops.Word{At: at, Value: 1}, ops.Word{Write: true, At: at})
	}
	d.put(r, o)
}

// barrier makes all ranks wait for all.
func (d *drawing) barrier(sem, s string) {
	for r := range d.ranks {
		var peers []int
		for i := 1; i < d.ranks; i++ {
			peers = append(peers, (r+i)%d.ranks)
		}
		d.post(r, s, sem, peers...)
		d.wait(r, s, sem, peers...)
	}
}

// action adds one thing that happens.
func (d *drawing) action() {
	r := d.rank("rank")
	q := (r + rapid.IntRange(1, d.ranks-1).Draw(d.T, "peer")) % d.ranks
	switch rapid.SampledFrom([]string{"pull", "pull", "push", "local", "signal", "signal", "sync", "sum", "accumulate",
		"put", "fused put", "collective"}).Draw(d.T, "action") {
	case "pull":
		d.copy(r, d.range_(q, "A", 1), d.range_(r, "P", 2))
	case "push":
		d.copy(r, d.range_(r, "A", 1), d.range_(q, "P", 2))
	case "local":
		d.copy(r, d.range_(r, "P", 2), d.range_(r, "Q", 2))
	case "signal":
		sem := rapid.SampledFrom([]string{"x", "y"}).Draw(d.T, "semaphore")
		d.post(r, d.stream(), sem, q)
		d.wait(q, d.stream(), sem, r)
	case "sum":
		to := d.range_(r, "Q", 2)
		to.Write = true
		d.put(r, ops.Op{Kind: ops.Sum, Stream: d.stream(), Kernel: "reduce", Uses: []ops.Use{d.range_(r, "P", 2),
			d.range_(q, "Q", 2), to}})
	case "accumulate":
		sum := d.range_(rapid.SampledFrom([]int{r, r, q}).Draw(d.T, "owner"), "Q", 2)
		to := sum
		to.Write = true
		d.put(r, ops.Op{Kind: ops.Product, Form: "matmul", Stream: d.stream(), Uses: []ops.Use{d.range_(r, "A", 1),
			d.range_(r, "P", 2), sum, to}})
	case "put":
		d.member(r, q, d.stream(), "")
	case "fused put":
		d.member(r, q, d.stream(), "put")
	case "collective":
		d.collective()
	case "sync":
		if s, on := d.stream(), d.stream(); s != on {
			d.sync(r, s, on)
		}
	}
}

// collective is one of all ranks, mostly on one stream, sometimes on another on one of them.
func (d *drawing) collective() {
	s, odd := d.stream(), rapid.IntRange(0, 8*d.ranks).Draw(d.T, "another stream on")
	for r := range d.ranks {
		o := ops.Op{Kind: ops.Collective, Form: "all-reduce", Stream: s}
		if r == odd {
			o.Stream = d.stream()
		}
		to := d.range_(r, "Q", 2)
		to.Write = true
		o.Uses = []ops.Use{d.range_(r, "P", 2), to}
		d.put(r, o)
	}
}

// member puts a chunk into a peer's memory once that says it is free, and says that it
// has; by one kernel, where that has a name. The words are members of one semaphore.
func (d *drawing) member(r, q int, s, kernel string) {
	free, member := rapid.Bool().Draw(d.T, "free"), rapid.IntRange(0, 1).Draw(d.T, "member")
	at := func(waiter, poster, member int) ops.Loc {
		return ops.Loc{Rank: waiter, Buffer: "z", Offset: 4 * int64(member*d.ranks+poster)}
	}
	if free {
		d.put(q, ops.Op{Kind: ops.Signal, Stream: d.stream(),
			Words: []ops.Word{{Write: true, Value: 1, At: at(r, q, 1-member)}}})
	}
	first := len(d.lists[r])
	if mine := at(r, q, 1-member); free {
		d.put(r, ops.Op{Kind: ops.Signal, Stream: s, Words: []ops.Word{{At: mine, Value: 1}, {Write: true, At: mine}}})
	}
	src, dst := d.range_(r, "A", 1), d.range_(q, "P", 2)
	dst.Write = true
	d.put(r, ops.Op{Kind: ops.Copy, Stream: s, Uses: []ops.Use{src, dst}})
	d.put(r, ops.Op{Kind: ops.Signal, Stream: s, Words: []ops.Word{{Write: true, Value: 1, At: at(q, r, member)}}})
	if kernel != "" {
		for i := range d.lists[r][first:] {
			d.lists[r][first+i].Kernel, d.lists[r][first+i].Step = kernel, d.step[r]
		}
	}
	arrived := at(q, r, member)
	d.put(q, ops.Op{Kind: ops.Signal, Stream: d.stream(), Words: []ops.Word{{At: arrived, Value: 1},
		{Write: true, At: arrived}}})
}

func (d *drawing) range_(rank int, buffer string, chunks int) ops.Use {
	i := rapid.IntRange(0, chunks-1).Draw(d.T, "chunk")
	return ops.Use{At: ops.Loc{Rank: rank, Buffer: buffer, Offset: int64(chunk * i)}, Bytes: chunk}
}

func (d *drawing) copy(r int, src, dst ops.Use) {
	dst.Write = true
	d.put(r, ops.Op{Kind: ops.Copy, Stream: d.stream(), Uses: []ops.Use{src, dst}})
}

// drop leaves an operation of one rank out, sometimes.
func (d *drawing) drop() {
	r := d.rank("drop on")
	i := rapid.IntRange(-len(d.lists[r]), len(d.lists[r])-1).Draw(d.T, "drop")
	if i < 0 || d.lists[r][i].Kind == ops.After || d.lists[r][i].Kind == ops.Done {
		return
	}
	d.lists[r] = append(d.lists[r][:i:i], d.lists[r][i+1:]...)
}

// The reduced search finds what the full one finds.
func TestReduction(t *testing.T) {
	sampling.Test(t, 0, 3)
	safe, broken, skipped := 0, map[explore.Property]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		sys := small(t, 3)
		sys.Modes = rapid.SampledFrom([][]explore.Mode{{explore.Eager}, {explore.Eager, explore.Eager},
			{explore.Captured}, {explore.Captured, explore.Captured}}).Draw(t, "modes")
		sys.Limit = 500
		reduced := explore.Explore(sys)
		sys.Full = true
		full := explore.Explore(sys)
		if !full.Complete || !reduced.Complete {
			skipped++
			return
		}
		if full.Safe() {
			safe++
		}
		for _, p := range []explore.Property{explore.NoRace, explore.NoDeadlock, explore.OnePost, explore.AtRest,
			explore.InRun, explore.Owned, explore.Capturable} {
			if full.Broke(p) {
				broken[p]++
			}
			if full.Broke(p) != reduced.Broke(p) && (p == explore.NoRace || p == explore.NoDeadlock ||
				full.Safe() != reduced.Safe()) {
				t.Fatalf("%s: broken %v in the full search, %v in the reduced one\n%s", p, full.Broke(p),
					reduced.Broke(p), print(sys, full, reduced))
			}
		}
	})
	t.Logf("%d safe, broken %v, %d too large", safe, broken, skipped)
}

// Where no post is lost, the reduced search for deadlocks one operation at a time
// finds what the full one finds.
func TestSerialReduction(t *testing.T) {
	sampling.Test(t, 1, 3)
	safe, broken, skipped := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		sys := small(t, 4)
		sys.Modes = []explore.Mode{explore.Captured}
		sys.Limit = 500
		reduced := explore.ExploreSerial(sys)
		sys.Full = true
		full := explore.ExploreSerial(sys)
		if sys.Full = false; !full.Complete || !reduced.Complete || explore.Explore(sys).Broke(explore.OnePost) {
			skipped++
			return
		}
		if full.Broke(explore.Serial) != reduced.Broke(explore.Serial) {
			t.Fatalf("deadlock %v in the full search, %v in the reduced one\n%s", full.Broke(explore.Serial),
				reduced.Broke(explore.Serial), print(sys, full, reduced))
		}
		if full.Safe() {
			safe++
		} else {
			broken++
		}
	})
	t.Logf("%d safe, %d broken, %d too large or with a lost post", safe, broken, skipped)
}

func print(sys explore.System, vs ...explore.Verdict) string {
	text := ""
	for r, list := range sys.Ranks {
		text += fmt.Sprintf("rank %d\n%s", r, ops.Lines(list))
	}
	for _, v := range vs {
		text += fmt.Sprintf("%d states, %d steps\n", v.States, v.Steps)
		for _, x := range v.Violations {
			text += fmt.Sprintf("  %s: %s\n", x.Property, x.Text)
		}
	}
	return text
}
