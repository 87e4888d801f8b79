package prove_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// exchange is the safe pattern: both sides say ready, copy, say read and wait for that.
const exchange = "main post ready PEER; main wait ready PEER; main S[0:8] = A@PEER; main post read " +
	"PEER; main wait read PEER"

func with(peer string) string { return strings.ReplaceAll(exchange, "PEER", peer) }

type listCase struct {
	name  string
	ranks []string
	edit  func([][]ops.Op) // of the parsed lists
	want  prove.Property   // empty: proven
	text  []string         // that the counterexample must hold
}

func (c listCase) run(t *testing.T) {
	t.Helper()
	lists := parse(t, c.ranks...)
	m := needed(model, lists)
	if c.edit != nil {
		c.edit(lists)
	}
	size, err := prove.Lists(t.Context(), m, lists, 0)
	if c.want == "" {
		if err != nil {
			t.Fatal(err)
		}
		if size.Captured != nil {
			t.Error(size.Captured)
		}
		return
	}
	var wrong *prove.Counterexample
	if !errors.As(err, &wrong) {
		t.Fatalf("proven, or no counterexample: %v", err)
	}
	t.Log(err)
	if wrong.Property != c.want {
		t.Errorf("property %q, want %q", wrong.Property, c.want)
	}
	for _, s := range c.text {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the counterexample does not say %q", s)
		}
	}
	again := parse(t, c.ranks...)
	if c.edit != nil {
		c.edit(again)
	}
	if _, second := prove.Lists(t.Context(), m, again, 0); second == nil || second.Error() != err.Error() {
		t.Errorf("another counterexample the second time:\n%v", second)
	}
}

// set returns an edit of one operation of rank 0, counted from the one after After.
func set(i int, f func(*ops.Op)) func([][]ops.Op) {
	return func(lists [][]ops.Op) { f(&lists[0][i+1]) }
}

// countIn makes an operation a kernel whose blocks count themselves in a word.
func countIn(word ops.Loc) func(*ops.Op) {
	return func(o *ops.Op) { o.Kernel, o.Count = "get", word }
}

var copyAlone = []string{"main S[0:8] = A; main C[0:8] = S[0:8]"}

var exchangeOfTwo = []string{with("1"), with("0")}

var propertyCases = []listCase{
	{name: "copy alone", ranks: copyAlone},
	{name: "exchange", ranks: exchangeOfTwo},
	{name: "exchange by kernels", ranks: []string{strings.ReplaceAll(with("1"), "post", "post!"),
		strings.ReplaceAll(with("0"), "wait", "wait!")}},
	{name: "fork and join", ranks: []string{"a < main; b < main; a S = C; b T[0:8] = A; main < a; main < b"}},

	{name: "event not recorded", ranks: []string{"a < main; a S[0:8] = A; main < a"},
		edit: set(1, func(o *ops.Op) { o.Event = 7 }), want: prove.Events},
	{name: "event recorded later", ranks: []string{"a < main; a S[0:8] = A; main < a"}, want: prove.Events,
		edit: func(l [][]ops.Op) { l[0][1], l[0][2] = l[0][2], l[0][1] }},

	{name: "beyond the end", ranks: copyAlone, edit: set(0, func(o *ops.Op) { o.Uses[0].Bytes = 9 }),
		want: prove.Bounds, text: []string{"A has 8 bytes"}},
	{name: "before the start", ranks: copyAlone, edit: set(0, func(o *ops.Op) { o.Uses[0].At.Offset = -1 }),
		want: prove.Bounds},
	{name: "no such buffer", ranks: copyAlone, edit: set(0, func(o *ops.Op) { o.Uses[0].At.Buffer = "Q" }),
		want: prove.Bounds},
	{name: "no such rank", ranks: copyAlone, edit: set(0, func(o *ops.Op) { o.Uses[0].At.Rank = 3 }),
		want: prove.Bounds},
	{name: "not shared", ranks: []string{"main S[0:4] = B@1", "main S[0:4] = B"}, want: prove.Bounds,
		text: []string{"not shared"}},
	{name: "onto itself", ranks: []string{"main S[0:8] = S[4:12]"}, want: prove.Bounds},
	{name: "another rank's workspace", ranks: []string{"main C[0:8] = A * B", "main C[0:8] = A * B"},
		edit: set(0, func(o *ops.Op) { o.Uses[3].At.Rank = 1 }), want: prove.Bounds},

	{name: "post of 2", ranks: exchangeOfTwo, edit: set(0, func(o *ops.Op) { o.Words[0].Value = 2 }),
		want: prove.Signals},
	{name: "half a word", ranks: exchangeOfTwo, edit: set(0, func(o *ops.Op) { o.Words[0].At.Offset = 2 }),
		want: prove.Signals},
	{name: "word of no rank", ranks: exchangeOfTwo, edit: set(0, func(o *ops.Op) { o.Words[0].At.Offset = 8 }),
		want: prove.Signals},
	{name: "post to a buffer", ranks: exchangeOfTwo, edit: set(0, func(o *ops.Op) { o.Words[0].At.Buffer = "A" }),
		want: prove.Signals},
	{name: "wait at the peer", ranks: exchangeOfTwo,
		edit: set(1, func(o *ops.Op) { o.Words[0].At.Rank, o.Words[1].At.Rank = 1, 1 }), want: prove.Signals},
	{name: "reset alone", ranks: exchangeOfTwo, edit: set(1, func(o *ops.Op) { o.Words = o.Words[1:] }),
		want: prove.Signals},
	{name: "another stream's step word", ranks: exchangeOfTwo, want: prove.Signals,
		edit: set(1, func(o *ops.Op) {
			o.Words = append(o.Words, ops.Word{Write: true, At: ops.Loc{Buffer: "step[copy]"}, Value: 3})
		})},

	{name: "a note beside the step word", ranks: exchangeOfTwo, want: prove.Signals, text: []string{"step word"},
		edit: set(1, func(o *ops.Op) {
			o.Words = append(o.Words, ops.Word{Write: true, At: ops.Loc{Buffer: "step[main]", Offset: 2052},
				Value: 3})
		})},
	{name: "a workspace from its middle on", ranks: []string{"main C[0:8] = A * B"},
		edit: set(0, func(o *ops.Op) { o.Uses[3].At.Offset = 64 }), want: prove.Bounds},
	{name: "another rank's count word", ranks: exchangeOfTwo, want: prove.Bounds, text: []string{"count word"},
		edit: set(0, countIn(ops.Loc{Rank: 1, Buffer: "count[main]"}))},
	{name: "blocks counted beside the word", ranks: exchangeOfTwo, want: prove.Bounds, text: []string{"count word"},
		edit: set(0, countIn(ops.Loc{Buffer: "count[main]", Offset: 4}))},
	{name: "blocks counted in a semaphore", ranks: exchangeOfTwo, want: prove.Bounds,
		edit: set(0, countIn(ops.Loc{Buffer: "read"}))},

	{name: "remote write to C", ranks: []string{"main S[0:8] = A", "main C@0[0:8] = A"}, want: prove.Bounds},
	{name: "adds to its result", ranks: []string{"main C[0:4] = A[0:4] * B; main C[0:4] += A[0:4] * B"}},
	{name: "adds beside its result", ranks: []string{"main C[0:4] = A[0:4] * B; main C[0:4] += A[0:4] * B"},
		want: prove.Bounds, text: []string{"both uses and writes"},
		edit: set(1, func(o *ops.Op) { o.Uses[2].At.Offset, o.Uses[2].Bytes = 2, 4 })},
	{name: "adds to its operand", ranks: []string{"main C[0:4] = A[0:4] * B; main C[0:4] += C[0:4] * B"},
		want: prove.Bounds, text: []string{"both uses and writes"}},
	{name: "a product over its operand", ranks: []string{"main C[0:4] = A[0:4]; main C[0:4] = C[0:4] * B"},
		want: prove.Bounds, text: []string{"both uses and writes"}},
	{name: "a product over its second operand",
		ranks: []string{"main C[0:4] = A[0:4]; main C[0:4] = A[0:4] * C[0:4]"}, want: prove.Bounds,
		text: []string{"both uses and writes"}},
	{name: "a product over its bias", ranks: []string{"main C[0:4] = A[0:4]; main C[0:4] += A[0:4] * B"},
		want: prove.Bounds, text: []string{"both uses and writes"},
		edit: set(1, func(o *ops.Op) { o.Accumulate = false })},
	{name: "adds to what it does not read", ranks: []string{"main C[0:4] = A[0:4] * B"}, want: prove.Bounds,
		text: []string{"reads something else"},
		edit: set(0, func(o *ops.Op) {
			o.Accumulate, o.Uses = true, slices.Insert(o.Uses, 2, ops.Use{At: ops.Loc{Buffer: "B"}, Bytes: 4})
		})},
	{name: "a sum into its term", ranks: []string{"main S[0:8] = A; main S[0:8] = S[0:8] + A"}},
	{name: "a sum beside its term", ranks: []string{"main S[4:12] = A; main S[0:8] = S[4:12] + A"},
		want: prove.Bounds, text: []string{"both uses and writes"}},
	{name: "a sum of a peer's memory that is not shared", ranks: []string{"main S[0:4] = A[0:4] + B@1",
		"main S[0:8] = A"}, want: prove.Bounds, text: []string{"not shared"}},
	{name: "a product into a peer's result", ranks: []string{"main C@1[0:4] = A[0:4] * B", "main S[0:8] = A"},
		want: prove.Bounds},
	{name: "a product into a peer's staging, unasked", ranks: []string{"main S@1[0:4] = A[0:4] * B",
		"main S[0:8] = A"}, want: prove.Window},
	{name: "a sum into a peer's input", ranks: []string{"main A@1 = S[0:8] + T[0:8]", "main S[0:8] = A"},
		want: prove.Remote},
	{name: "remote write to A", ranks: []string{"main S[0:8] = A", "main A@0 = S[0:8]"}, want: prove.Remote},
	{name: "write to an input", ranks: []string{"main A = S[0:8]"}, want: prove.Remote, text: []string{"input"}},

	{name: "wait for 0", ranks: exchangeOfTwo, edit: set(1, func(o *ops.Op) { o.Words[0].Value = 0 }),
		want: prove.Abort},
	{name: "wait on staging", ranks: exchangeOfTwo, edit: set(1, func(o *ops.Op) { o.Words[0].At.Buffer = "S" }),
		want: prove.Abort},

	{name: "no reset", ranks: exchangeOfTwo, edit: set(1, func(o *ops.Op) { o.Words = o.Words[:1] }), want: prove.Rest},
	{name: "post that nobody takes", ranks: []string{"main post x 1", "main S[0:8] = A"}, want: prove.Rest,
		text: []string{"missing: a wait for x[0]@1"}},

	{name: "no fork", ranks: []string{"a S[0:8] = A; main < a"}, want: prove.Bracket,
		text: []string{"start of the run"}},
	{name: "no join", ranks: []string{"a < main; a S[0:8] = A"}, want: prove.Bracket,
		text: []string{"end of the run"}},
	{name: "joined too early", ranks: []string{"a < main; main < a; a S[0:8] = A"}, want: prove.Bracket},
}

func TestProperties(t *testing.T) {
	for _, c := range propertyCases {
		t.Run(c.name, c.run)
	}
}

// A tensor that only rank 0 has is used nowhere else.
func TestRoot(t *testing.T) {
	model.Buffers[0].Root = true
	defer func() { model.Buffers[0].Root = false }()
	get := "main wait ready 0; main S[0:8] = A@0; main post read 0"
	listCase{ranks: []string{"main post ready 1; main wait read 1", get}}.run(t)
	listCase{ranks: []string{"main post ready 1; main wait read 1", get + "; main T[0:8] = A"}, want: prove.Bounds,
		text: []string{"only rank 0 has A"}}.run(t)
}

// counting lets operations of rank 0 be kernels that count their blocks in main's word.
func counting(at ...int) func([][]ops.Op) {
	return func(lists [][]ops.Op) {
		for _, i := range at {
			lists[0][i].Count, lists[0][i].Kernel = ops.Loc{Buffer: "count[main]"}, "get"
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []listCase{
		{name: "two waits that cross", want: prove.Deadlock, ranks: []string{"main wait x 1; main post x 1",
			"main wait x 0; main post x 0"}},
		{name: "a circle of three", want: prove.Deadlock, text: []string{"3 waits"}, ranks: []string{
			"main wait x 1; main post x 2", "main wait x 2; main post x 0", "main wait x 0; main post x 1"}},
		{name: "wait for oneself", want: prove.Deadlock, ranks: []string{"main wait x 0; main post x 0"}},
		{name: "post for oneself", ranks: []string{"main post x 0; main wait x 0"}},
		{name: "one peer of two", want: prove.Deadlock, ranks: []string{
			"main post x 1; main wait x 1 2", "main post x 0; main wait x 0",
			"main wait y 0; main post x 0; main post y 0"},
			edit: func(l [][]ops.Op) {
				l[0] = append(l[0][:3:3], append(parse(t, "main wait y 2; main post y 2")[0][1:3], l[0][3:]...)...)
			}},

		{name: "nobody posts", want: prove.Matching, text: []string{"posted 0 times", "missing: a post of x[1]@0"},
			ranks: []string{"main wait x 1", "main S[0:8] = A"}},
		{name: "posted once, awaited twice", want: prove.Matching,
			ranks: []string{"main wait x 1; main wait x 1; main post y 1", "main post x 0; main wait y 0"}},
		{name: "two waiters pass on one post", want: prove.Matching, ranks: []string{
			"a < main; a wait x 1; main wait x 1; main < a; main post y 1",
			"main post x 0; main wait y 0; main post x 0"}},
		{name: "two posters", want: prove.Matching, text: []string{"ranks 0 and 2"}, ranks: []string{
			"main post x 1; main wait y 1", "main wait x 0; main post y 0; main wait x 0; main post y 2",
			"main post x 1; main wait y 1"},
			edit: func(l [][]ops.Op) { l[2][1].Words[0].At.Offset = 0 }},
		{name: "posts on two streams", want: prove.Reset, ranks: []string{
			"a < main; a post x 1; main post x 1; main < a; main wait y 1",
			"main wait x 0; main wait x 0; main post y 0"}},
		{name: "posts on two streams, ordered by the peer", want: prove.Serial,
			text: []string{"(eager)"}, ranks: []string{
				"a < main; a wait y 1; a post x 1; main post x 1; main < a; main wait y 1",
				"main wait x 0; main post y 0; main wait x 0; main post y 0"}},
		{name: "waits on two streams", want: prove.Matching, text: []string{"two waits"}, ranks: []string{
			"main post x 1; main wait y 1; main post x 1; main wait y 1",
			"a < main; b < main; a wait x 0; a post y 0; b wait x 0; b post! y 0; main < a; main < b"}},

		{name: "no acknowledgement", want: prove.Reset, ranks: []string{"main post x 1", "main wait x 0"}},
		{name: "acknowledged in time", ranks: []string{"main post x 1; main wait y 1", "main wait x 0; main post y 0"}},
		{name: "acknowledged on another stream", want: prove.Reset, ranks: []string{
			"main post x 1; main wait y 1; main post x 1; main wait y 1",
			"a < main; a wait x 0; main post y 0; main < a; main wait x 0; main post y 0"}},
		{name: "taken by the next run", want: prove.Rest, ranks: []string{"main post x 1; main wait y 1; main post x 1",
			"main wait x 0; main post y 0"}},
	} {
		t.Run(c.name, c.run)
	}
}

func TestMemory(t *testing.T) {
	for _, c := range []listCase{
		{name: "read before the owner's start", want: prove.Window, text: []string{"before that rank has started"},
			ranks: []string{
				"main wait read 1", "main S[0:8] = A@0; main post read 0; main wait x 0"},
			edit: func(l [][]ops.Op) {
				l[0] = append(l[0][:2:2], append(parse(t, "main post x 1")[0][1:2], l[0][2:]...)...)
			}},
		{name: "acknowledged before the copy", want: prove.Window, text: []string{"may end its run", "Post read"},
			ranks: []string{
				"main post ready 1; main wait read 1", "main wait ready 0; main post read 0; main S[0:8] = A@0"}},
		{name: "acknowledged beside the copy", want: prove.Window, ranks: []string{
			"main post ready 1; main wait read 1",
			"main wait ready 0; a < main; a S[0:8] = A@0; main post read 0; main < a"}},

		{name: "two streams write", want: prove.Race, text: []string{"S@0", "bytes 4 to 8", "Synchronize"},
			ranks: []string{
				"a < main; a S[0:8] = A; main S[4:12] = A; main < a"}},
		{name: "two streams, two places", ranks: []string{"a < main; a S[0:8] = A; main S[8:16] = A; main < a"}},
		{name: "read beside a write", want: prove.Race,
			ranks: []string{"a < main; a S[0:8] = A; main C[0:8] = S[0:8]; main < a"}},
		{name: "two reads", ranks: []string{"a < main; a S[0:8] = A; main T[0:8] = A; main < a"}},
		{name: "shared workspace", want: prove.Race, text: []string{"workspace[main]@0"}, ranks: []string{
			"a < main; a C[0:4] = A * B; main C[4:8] = A * B; main < a"},
			edit: func(l [][]ops.Op) { l[0][3].Uses[3].At.Buffer = "workspace[main]" }},
		{name: "shared count word", want: prove.Race, text: []string{"count[main]@0"}, ranks: []string{
			"a < main; a S[0:4] = A[0:4]; main S[4:8] = A[4:8]; main < a"}, edit: counting(3, 4)},
		{name: "shared count word, one after the other", ranks: []string{
			"main S[4:8] = A[4:8]; a < main; a S[0:4] = A[0:4]; main < a"}, edit: counting(1, 4)},
		{name: "shared count word, one while the other waits", want: prove.Race,
			text: []string{"count[main]@0"}, ranks: []string{
				"a < main; a post! x 0; a wait! y 0; main wait! x 0; main S[0:4] = A[0:4]; main post! y 0; " +
					"a S[4:8] = A[4:8]; main < a"}, edit: counting(3, 4, 6, 8)},
		{name: "a put beside a read", want: prove.Race, text: []string{"S@0"}, ranks: []string{
			"main post ready 1; main C[0:8] = S[0:8]; main wait read 1",
			"main wait ready 0; main S@0[0:8] = A; main post read 0"}},
		{name: "a put before a read", ranks: []string{
			"main post ready 1; main wait read 1; main C[0:8] = S[0:8]",
			"main wait ready 0; main S@0[0:8] = A; main post read 0"}},
		{name: "two puts", want: prove.Race, ranks: []string{
			"main post ready 1 2; main wait read 1 2",
			"main wait ready 0; main S@0[0:8] = A; main post read 0",
			"main wait ready 0; main S@0[4:12] = A; main post read 0"}},
	} {
		t.Run(c.name, c.run)
	}
}
