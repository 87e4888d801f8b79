package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Options are what a rank is made by, beside the model.
type Options struct {
	Type      device.Type // of weights, activations and the cache: BF16 or FP32
	Sequences int         // at a time
	Room      int         // positions of a sequence
	Prefill   []int       // buckets: rows of a step that reads a prompt, ascending
	Decode    []int       // buckets: sequences of a step that makes a token of each, ascending
	NCCL      bool        // communicates, in place of ovgen's own ways
	Many      int         // rows from which on a step of a prompt spreads them over the ranks
}

// Usual are the options of a server.
var Usual = Options{Type: device.BF16, Sequences: 64, Room: 4096, Many: 512,
	Prefill: []int{16, 64, 256, 512, 1024, 2048},
	Decode:  []int{1, 2, 4, 8, 16, 24, 32, 48, 64}}

// bucket is a step of up to a number of rows: its plans, and one graph of the whole step.
type bucket struct {
	rows   int
	prompt bool // rows of one sequence, of which the last is wanted; else each row is
	spread bool // between products a rank has its part of the rows, and not all
	wanted int  // rows of logits: a multiple of the ranks

	layer made[layerBuffers]
	head  made[headBuffers]
	graph *device.Graph
}

// buckets are those of the options, of each kind the smallest first.
func (o Options) buckets(ranks int) (list []*bucket) {
	for _, n := range o.Decode {
		list = append(list, &bucket{rows: n, wanted: multiple(n, ranks)})
	}
	for _, n := range o.Prefill {
		b := &bucket{rows: n, prompt: true, wanted: ranks}
		if n >= o.Many {
			b.rows, b.spread = multiple(n, ranks), true
		}
		list = append(list, b)
	}
	return list
}

// shapes are those of a bucket's plans.
func (b *bucket) shapes(c Config, x Cut, typ device.Type) (layerShape, headShape) {
	return layerShape{M: b.rows, K: c.Hidden, N: c.Heads * c.HeadSize, N2: x.Ranks * x.Keys * c.HeadSize,
		F: c.Intermediate, Type: typ}, headShape{M: b.wanted, K: c.Hidden, N: x.Tokens, Type: device.FP32}
}

// planned is what the plans of all buckets need.
func planned(c Config, o Options, x Cut) (all plan.Memory, err error) {
	for _, b := range o.buckets(x.Ranks) {
		l, h := b.shapes(c, x, o.Type)
		layer, err := layerPackages[by{b.spread, o.NCCL}].memory(l, x.Ranks)
		if err != nil {
			return all, err
		}
		head, err := headPackages[o.NCCL].memory(h, x.Ranks)
		if err != nil {
			return all, err
		}
		all.Beside(layer)
		all.Beside(head)
	}
	return all, nil
}

// plan makes the plans of all buckets and captures their steps, the largest first.
func (r *Rank) plan(ctx context.Context) (err error) {
	r.all = r.buckets(r.Ranks)
	for _, b := range slices.Backward(r.all) {
		l, h := b.shapes(r.Config, r.Cut, r.Type)
		if b.layer, err = layerPackages[by{b.spread, r.NCCL}].make(ctx, r.group, l); err != nil {
			return err
		}
		if b.head, err = headPackages[r.NCCL].make(ctx, r.group, h); err != nil {
			return err
		}
		m := r.memory
		if err = b.head.bind(ctx, headBuffers{A: m.last, B: r.head, Bias: m.zeros, C: m.logits}); err != nil {
			return err
		}
		b.graph, err = device.Capture(r.driver, r.stream.Handle(), func() error { return r.enqueue(ctx, b) })
		if err != nil {
			return fmt.Errorf("steps of %d rows: %w", b.rows, err)
		}
	}
	return nil
}

// enqueue is a whole step. Only numbers in device memory differ from one to the next, so that its graph can be
// launched again.
func (r *Rank) enqueue(ctx context.Context, b *bucket) error {
	on, m := r.stream.Handle(), r.memory
	word := func(i int) device.Ptr { return m.input + device.Ptr(4*i) }
	first, count := 0, b.rows
	if b.spread {
		count /= r.Ranks
		first = r.Cut.Rank * count
	}
	err := r.kernels.Launch(on, &kernels.Embed{Rows: kernels.Rows{Count: count, Columns: r.Hidden, Index: word(first),
		From: r.embedding, To: m.x[0]}})
	look := r.attention
	look.Rows, look.Sequences, look.Positions = b.rows, word(b.rows), word(2*b.rows)
	from, to := m.x[0], m.x[1]
	for _, l := range r.layers {
		look.CacheKeys, look.CacheValues = l.keys, l.values
		l.A, l.C, *b.layer.attention = from, to, r.attend(look, b.prompt)
		err = errors.Join(err, b.layer.bind(ctx, l.layerBuffers), b.layer.Enqueue(on))
		from, to = to, from
	}
	return errors.Join(err,
		r.kernels.Launch(on, &kernels.Last{Rows: kernels.Rows{Count: b.wanted / r.Ranks, Columns: r.Hidden,
			Index: word(3 * b.rows), From: from, Weight: r.norm, To: m.last, Epsilon: float32(r.Epsilon)}}),
		b.head.Enqueue(on),
		r.kernels.Launch(on, &kernels.Best{Rows: kernels.Rows{Count: b.wanted, Columns: r.Tokens,
			First: r.Cut.Rank * r.Tokens, Tokens: r.realTokens(), From: m.logits, To: m.best}}))
}

// realTokens is how many of the rank's part of the vocabulary are tokens.
func (r *Rank) realTokens() int { return max(0, min(r.Tokens, r.Vocabulary-r.Cut.Rank*r.Tokens)) }

// attend is the call between a layer's products: it turns and keeps the new keys, and looks back.
func (r *Rank) attend(look kernels.Attention, prompt bool) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		look.Query, look.Key, look.Value, look.Dst = from[0].At, from[1].At, from[2].At, to.At
		if prompt {
			return r.kernels.Launch(on, &kernels.Store{Attention: look}, &kernels.Prefill{Attention: look})
		}
		return r.kernels.Launch(on, &kernels.Store{Attention: look}, &kernels.Decode{Attention: look},
			&kernels.Merge{Attention: look})
	}
}

// Batch is the rows of one step: either rows of a prompt, which follow each other in one sequence, or one row each of
// several sequences.
type Batch struct {
	Prompt                       bool
	Tokens, Sequences, Positions []int32
}

// Add adds a row.
func (b *Batch) Add(token, sequence, position int) {
	b.Tokens = append(b.Tokens, int32(token))
	b.Sequences = append(b.Sequences, int32(sequence))
	b.Positions = append(b.Positions, int32(position))
}

// Best is the greatest logit of a row on a rank, and its token.
type Best struct {
	Logit float32
	Token int32
}

// Step runs the rows through the model, and returns the likeliest of this rank's tokens behind each row, or behind the
// last row of a prompt. All ranks call it with the same rows.
func (r *Rank) Step(ctx context.Context, rows Batch) (next []Best, err error) {
	b, err := r.bucket(rows)
	if err != nil {
		return nil, err
	}
	input, answers := b.input(r, rows)
	raw, best := make([]byte, kernels.PairBytes*b.wanted), make([]Best, b.wanted)
	if err = r.driver.MemcpyHtoD(r.memory.input, little(input)); err == nil {
		err = b.graph.Launch(r.stream.Handle())
	}
	if err == nil {
		err = r.group.Watch(ctx, r.stream.Handle())
	}
	if err == nil {
		err = r.driver.MemcpyDtoH(raw, r.memory.best)
	}
	if err != nil {
		r.group.Abort(err) // the other ranks wait for this one
		return nil, fmt.Errorf("step: %w", err)
	}
	_, _ = binary.Decode(raw, binary.LittleEndian, best) // it refuses only too few bytes
	for _, at := range answers {
		next = append(next, best[at])
	}
	return next, nil
}

// bucket is the smallest that has the rows.
func (r *Rank) bucket(rows Batch) (*bucket, error) {
	n := len(rows.Tokens)
	i := slices.IndexFunc(r.all, func(b *bucket) bool { return b.prompt == rows.Prompt && b.rows >= n })
	if i < 0 || n == 0 {
		return nil, fmt.Errorf("step of %d rows: no bucket has them", n)
	}
	return r.all[i], nil
}

// input is what the kernels read of a step: tokens, sequences and positions of its rows, and which rows this rank norms
// for the logits, -1 for none. Of the logits' rows, answers are those of the rows, or of a prompt's last row.
func (b *bucket) input(r *Rank, rows Batch) (input []int32, answers []int) {
	n, each := len(rows.Tokens), b.wanted/r.Ranks
	fill := func(list []int32, size int, with int32) {
		input = append(append(input, list...), slices.Repeat([]int32{with}, size-len(list))...)
	}
	fill(rows.Tokens, b.rows, 0)
	fill(rows.Sequences, b.rows, int32(r.Sequences))
	fill(rows.Positions, b.rows, 0)
	fill(nil, each, -1)
	want := func(rank, at, row int) {
		if rank == r.Cut.Rank {
			input[3*b.rows+at] = int32(row)
		}
		answers = append(answers, rank*each+at)
	}
	switch last, part := n-1, b.rows/r.Ranks; {
	case b.spread:
		want(last/part, 0, last%part)
	case b.prompt:
		want(0, 0, last)
	default:
		for i := range n {
			want(i/each, i%each, i)
		}
	}
	return input, answers
}
