package main

import (
	"context"
	"errors"
	"fmt"
	"math"
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
func (r *Rank) plan(ctx context.Context) error {
	r.all = r.buckets(r.Ranks)
	for _, b := range slices.Backward(r.all) {
		if err := r.capture(ctx, b); err != nil {
			return fmt.Errorf("steps of %d rows: %w", b.rows, err)
		}
	}
	return nil
}

func (r *Rank) capture(ctx context.Context, b *bucket) (err error) {
	l, h := b.shapes(r.Config, r.Cut, r.Type)
	if b.layer, err = layerPackages[by{b.spread, r.NCCL}].make(ctx, r.group, l); err != nil {
		return err
	}
	if b.head, err = headPackages[r.NCCL].make(ctx, r.group, h); err != nil {
		return err
	}
	m := r.memory
	if err := b.head.bind(ctx, headBuffers{A: m.last, B: r.head, Bias: m.zeros, C: m.logits}); err != nil {
		return err
	}
	b.graph, err = device.Capture(r.driver, r.stream.Handle(), func() error { return r.enqueue(ctx, b) })
	return err
}

// enqueue is a whole step. Only numbers in device memory differ from one to the next, so that its graph can be
// launched again.
func (r *Rank) enqueue(ctx context.Context, b *bucket) error {
	on, m, h := r.stream.Handle(), r.memory, uint64(r.Hidden)
	word := func(i int) device.Ptr { return m.input + device.Ptr(4*i) }
	rows := kernels.Rows{Count: uint64(b.rows), Tokens: word(0), Sequences: word(b.rows), Positions: word(2 * b.rows)}
	first, count := 0, b.rows
	if b.spread {
		count /= r.Ranks
		first = r.Cut.Rank * count
	}
	errs := []error{r.kernels.Launch(on, &kernels.Embed{Count: uint64(count), Columns: h, Tokens: word(first),
		Table: r.embedding, Dst: m.x[0]})}
	from, to := m.x[0], m.x[1]
	for _, l := range r.layers {
		l.A, l.C, *b.layer.attention = from, to, r.attention(b, rows, l)
		errs = append(errs, b.layer.bind(ctx, l.layerBuffers), b.layer.Enqueue(on))
		from, to = to, from
	}
	wanted, each := uint64(b.wanted), uint64(b.wanted/r.Ranks)
	return errors.Join(append(errs,
		r.kernels.Launch(on, &kernels.Last{Count: each, Columns: h, Rows: word(3 * b.rows), Src: from, Weight: r.norm,
			Dst: m.last, Epsilon: float32(r.Epsilon)}),
		b.head.Enqueue(on),
		r.kernels.Launch(on, &kernels.Best{Rows: wanted, Columns: uint64(r.Tokens), First: uint64(r.FirstToken()),
			Tokens: uint64(r.RealTokens(r.Config)), Logits: m.logits, Dst: m.best}))...)
}

// attention is the call between a layer's products: it turns and keeps the new keys, and looks back.
func (r *Rank) attention(b *bucket, rows kernels.Rows, l layer) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		store := &kernels.Store{Rows: rows, Heads: r.heads, Key: from[1].At, Value: from[2].At, Keys: l.keys,
			Values: l.values}
		look := kernels.Attend{Rows: rows, Heads: r.heads, Query: from[0].At, Keys: l.keys, Values: l.values,
			Dst: to.At, Parts: r.memory.parts, Stretches: uint64(r.stretches()),
			Scale: float32(1 / math.Sqrt(float64(r.HeadSize)))}
		if b.prompt {
			return r.kernels.Launch(on, store, &kernels.Prefill{Attend: look})
		}
		return r.kernels.Launch(on, store, &kernels.Decode{Attend: look}, &kernels.Merge{Attend: look})
	}
}

// input is what the kernels read of a step: tokens, sequences and positions of its rows, and which rows this rank norms
// for the logits, -1 for none. Of the logits' rows, answers are those of the rows, or of a prompt's last row.
func (b *bucket) input(r *Rank, rows Batch) (input []int32, answers []int) {
	n, each := len(rows.Tokens), b.wanted/r.Ranks
	input = make([]int32, 3*b.rows+each)
	copy(input, rows.Tokens)
	copy(input[b.rows:], rows.Sequences)
	copy(input[2*b.rows:], rows.Positions)
	for i := n; i < b.rows; i++ {
		input[b.rows+i] = int32(r.Sequences)
	}
	normed := input[3*b.rows:]
	for i := range normed {
		normed[i] = -1
	}
	want := func(rank, at, row int) {
		if rank == r.Cut.Rank {
			normed[at] = int32(row)
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
