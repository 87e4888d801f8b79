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

// newBuckets are those of the options, of each kind the smallest first.
func (o Options) newBuckets(ranks int) (list []*bucket) {
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

// programs are a bucket's.
func (r *Rank) programs(b *bucket) (program[layerBuffers], program[headBuffers]) {
	return layerProgram(layerShape{M: b.rows, K: r.Hidden, N: r.Heads * r.HeadSize, N2: r.Ranks * r.Keys * r.HeadSize,
			F: r.Intermediate, Type: r.Type}, b.spread, r.NCCL),
		headProgram(headShape{M: b.wanted, K: r.Hidden, N: r.Tokens, Type: device.FP32}, r.NCCL)
}

// planned is what the plans of all buckets need.
func (r *Rank) planned() (all plan.Memory, err error) {
	for _, b := range r.newBuckets(r.Ranks) {
		layer, head := r.programs(b)
		for _, memory := range []func(int) (plan.Memory, error){layer.memory, head.memory} {
			needs, err := memory(r.Ranks)
			if err != nil {
				return all, err
			}
			all.Beside(needs)
		}
	}
	return all, nil
}

// plan makes the plans of all buckets and captures their steps, the largest first.
func (r *Rank) plan(ctx context.Context) (err error) {
	r.buckets = r.newBuckets(r.Ranks)
	for _, b := range slices.Backward(r.buckets) {
		layer, head := r.programs(b)
		if b.layer, err = layer.make(ctx, r.group); err != nil {
			return err
		}
		if b.head, err = head.make(ctx, r.group); err != nil {
			return err
		}
		if err = b.head.bind(ctx, headBuffers{A: r.last, B: r.head, Bias: r.zeros, C: r.logits}); err != nil {
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
	on, word := r.stream.Handle(), func(i int) device.Ptr { return r.input + device.Ptr(4*i) }
	first, count := 0, b.rows
	if b.spread {
		count /= r.Ranks
		first = r.Cut.Rank * count
	}
	err := kernels.Embed.Launch(r.kernels, on, r.Type, kernels.Rows{Count: count, Columns: r.Hidden, Index: word(first),
		From: r.embedding, To: r.x[0]})
	look := r.attention
	look.Rows, look.Sequences, look.Positions = b.rows, word(b.rows), word(2*b.rows)
	from, to := r.x[0], r.x[1]
	for _, l := range r.layers {
		look.CacheKeys, look.CacheValues = l.keys, l.values
		l.A, l.C, *b.layer.attention = from, to, r.attend(look, b.prompt)
		err = errors.Join(err, b.layer.bind(ctx, l.layerBuffers), b.layer.Enqueue(on))
		from, to = to, from
	}
	return errors.Join(err,
		kernels.Last.Launch(r.kernels, on, r.Type, kernels.Rows{Count: b.wanted / r.Ranks, Columns: r.Hidden,
			Index: word(3 * b.rows), From: from, Weight: r.norm, To: r.last, Epsilon: float32(r.Epsilon)}),
		b.head.Enqueue(on),
		kernels.Best.Launch(r.kernels, on, r.Type, kernels.Rows{Count: b.wanted, Columns: r.Tokens, First: r.First,
			Tokens: r.Tokens - r.Padding, From: r.logits, To: r.best}))
}

// attend is the call between a layer's products: it turns and keeps the new keys, and looks back.
func (r *Rank) attend(look kernels.Attention, prompt bool) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		look.Query, look.Key, look.Value, look.To = from[0].At, from[1].At, from[2].At, to.At
		err := kernels.Store.Launch(r.kernels, on, r.Type, look)
		if prompt {
			return errors.Join(err, kernels.Prefill.Launch(r.kernels, on, r.Type, look))
		}
		return errors.Join(err, kernels.Decode.Launch(r.kernels, on, r.Type, look),
			kernels.Merge.Launch(r.kernels, on, r.Type, look))
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
	n := len(rows.Tokens)
	i := slices.IndexFunc(r.buckets, func(b *bucket) bool { return b.prompt == rows.Prompt && b.rows >= n })
	if i < 0 || n == 0 {
		return nil, fmt.Errorf("step of %d rows: no bucket has them", n)
	}
	b := r.buckets[i]
	input, answers := b.input(r, rows)
	best := make([]Best, b.wanted)
	raw := make([]byte, binary.Size(best))
	if err = r.driver.MemcpyHtoD(r.input, little(input)); err == nil {
		err = b.graph.Launch(r.stream.Handle())
	}
	if err == nil {
		err = r.group.Watch(ctx, r.stream.Handle())
	}
	if err == nil {
		err = r.driver.MemcpyDtoH(raw, r.best)
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
