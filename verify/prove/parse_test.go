package prove_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

// model of the hand-made lists: every rank has A (8 bytes, the caller's, read by
// peers), B (4, the caller's own), C (16, output) and staging S and T (16 each).
var model = prove.Model{
	Program: "test",
	Buffers: []prove.Buffer{
		{Name: "A", Owner: hostir.Caller, Shared: true, Bytes: 8, Chunk: 4},
		{Name: "B", Owner: hostir.Caller, Bytes: 4, Chunk: 4},
		{Name: "C", Owner: hostir.Caller, Output: true, Bytes: 16, Chunk: 4},
		{Name: "S", Owner: hostir.Plan, Bytes: 16, Chunk: 4},
		{Name: "T", Owner: hostir.Plan, Bytes: 16, Chunk: 4},
	},
	Semaphores: []string{"ready", "read", "x", "y"},
}

// needed leaves out of the model what a list does not use.
func needed(m prove.Model, lists [][]ops.Op) prove.Model {
	text := ""
	for _, l := range lists {
		text += ops.Lines(l)
	}
	out := prove.Model{Program: m.Program, Computes: m.Computes}
	for _, b := range m.Buffers {
		if b.Owner == hostir.Caller || strings.Contains(text, " "+b.Name+"@") {
			out.Buffers = append(out.Buffers, b)
		}
	}
	for _, s := range m.Semaphores {
		if strings.Contains(text, " "+s+"@") {
			out.Semaphores = append(out.Semaphores, s)
		}
	}
	return out
}

// parse makes a list of each rank from lines such as
//
//	copy < main            copy waits for what main holds
//	main post ready 1      rank 1's word for this rank, also: post ready 1 2
//	main wait ready 1
//	main post! ready 1     by a kernel
//	main S[0:8] = A@1      a copy; a range or all of a buffer
//	main C[0:4] = S * B    a product
//	main C[0:4] += S * B   one that adds to what is there
//	main C[0:4] = S + T    a sum by a kernel
func parse(t testing.TB, ranks ...string) [][]ops.Op {
	t.Helper()
	lists := make([][]ops.Op, len(ranks))
	for r, text := range ranks {
		p := parser{t: t, rank: r, list: []ops.Op{{Kind: ops.After, Stream: "main"}}}
		for line := range strings.SplitSeq(text, ";") {
			if f := strings.Fields(line); len(f) > 0 {
				p.step++
				p.line(f)
			}
		}
		lists[r] = append(p.list, ops.Op{Kind: ops.Done, Stream: "main"})
	}
	return lists
}

type parser struct {
	t                  testing.TB
	rank, step, events int
	list               []ops.Op
}

func (p *parser) line(f []string) {
	o := ops.Op{Stream: f[0], Step: p.step}
	switch verb, _ := strings.CutSuffix(f[1], "!"); {
	case verb == "<":
		p.list = append(p.list, ops.Op{Kind: ops.Record, Stream: f[2], Event: p.events, Step: p.step})
		o.Kind, o.Event = ops.WaitEvent, p.events
		p.events++
	case verb == "post", verb == "wait":
		o.Kind = ops.Signal
		if verb != f[1] {
			o.Kernel = verb
		}
		for _, peer := range f[3:] {
			p.words(&o, verb, f[2], p.number(peer))
		}
	case len(f) == 4:
		o.Kind = ops.Copy
		o.Uses = []ops.Use{p.use(f[3], false), p.use(f[1], true)}
	case len(f) == 6 && f[4] == "*":
		o.Kind, o.Form = ops.Product, "matmul"
		o.Uses = []ops.Use{p.use(f[3], false), p.use(f[5], false)}
		if o.Accumulate = f[2] == "+="; o.Accumulate {
			o.Uses = append(o.Uses, p.use(f[1], false))
		}
		o.Uses = append(o.Uses, p.use(f[1], true),
			ops.Use{Write: true, At: ops.Loc{Rank: p.rank, Buffer: "workspace[" + f[0] + "]"}})
	case len(f) >= 6 && f[4] == "+":
		o.Kind, o.Kernel = ops.Sum, "reduce"
		for i := 3; i < len(f); i += 2 {
			o.Uses = append(o.Uses, p.use(f[i], false))
		}
		o.Uses = append(o.Uses, p.use(f[1], true))
	default:
		p.t.Fatalf("what is %q?", f)
	}
	p.list = append(p.list, o)
}

func (p *parser) words(o *ops.Op, verb, semaphore string, peer int) {
	if verb == "post" {
		o.Words = append(o.Words, ops.Word{Write: true, Value: 1, At: ops.Loc{Rank: peer, Buffer: semaphore,
			Offset: 4 * int64(p.rank)}})
		return
	}
	at := ops.Loc{Rank: p.rank, Buffer: semaphore, Offset: 4 * int64(peer)}
	o.Words = append(o.Words, ops.Word{Value: 1, At: at}, ops.Word{Write: true, At: at})
}

// use reads S, S@1, S[4:8] or S@1[4:8].
func (p *parser) use(text string, write bool) ops.Use {
	name, bounds, cut := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	name, rank, remote := strings.Cut(name, "@")
	u := ops.Use{Write: write, At: ops.Loc{Rank: p.rank, Buffer: name}}
	if remote {
		u.At.Rank = p.number(rank)
	}
	for _, b := range model.Buffers {
		if b.Name == name {
			u.Bytes = b.Bytes
		}
	}
	if cut {
		var to int64
		if _, err := fmt.Sscanf(bounds, "%d:%d", &u.At.Offset, &to); err != nil {
			p.t.Fatalf("range %q: %v", bounds, err)
		}
		u.Bytes = to - u.At.Offset
	}
	return u
}

func (p *parser) number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}
