package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/head"
	"ovgen/docs/examples/llama/generated/prefill"
	"ovgen/docs/examples/llama/kernels"
	"ovgen/generated/allgatheroneshot"
	"ovgen/generated/allreduceoneshot"
	"ovgen/generated/reducescatteroneshot"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// bucket is a step of up to a number of rows: its plans, and one graph of the whole step.
type bucket struct {
	rows   int
	prompt bool // rows of one sequence, of which the last is wanted; else each row is
	spread bool // between products a rank has its part of the rows, and not all
	wanted int  // rows of logits: a multiple of the ranks

	embed, layer, head, gather *plan.Plan
	// bind gives the layers' plan one layer.
	bind  func(ctx context.Context, x prefill.Buffers, attention plan.Call) error
	graph *device.Graph
}

// buckets are those of the options.
func (o Options) buckets(ranks int) (decode, prefill []*bucket) {
	for _, n := range o.Decode {
		decode = append(decode, &bucket{rows: n, wanted: multiple(n, ranks)})
	}
	for _, n := range o.Prefill {
		b := &bucket{rows: n, prompt: true, wanted: ranks}
		if n >= o.Many {
			b.rows, b.spread = multiple(n, ranks), true
		}
		prefill = append(prefill, b)
	}
	return decode, prefill
}

// shapes are those of a bucket's plans. Two programs have the same: one for rows that are spread, and one for others.
type shapes struct {
	embed  allreduceoneshot.Shape
	layer  prefill.Shape
	head   head.Shape
	gather allgatheroneshot.Shape
}

func (b *bucket) shapes(c Config, x Cut, typ device.Type) shapes {
	return shapes{
		embed: allreduceoneshot.Shape{M: b.rows, N: c.Hidden, Type: typ},
		layer: prefill.Shape{M: b.rows, K: c.Hidden, N: c.Heads * c.HeadSize, N2: x.Ranks * x.Keys * c.HeadSize,
			F: c.Intermediate, Type: typ},
		head:   head.Shape{M: b.wanted, K: c.Hidden, N: x.Tokens, Type: device.FP32},
		gather: allgatheroneshot.Shape{M: x.Ranks * b.wanted, N: kernels.PairBytes / 4, Type: device.FP32},
	}
}

// planned is what the plans of all buckets need: Config.Arena of their group, and workspaces.
func planned(c Config, o Options, x Cut) (arena, workspaces int64, err error) {
	var staging, words int64
	decoding, prefill := o.buckets(x.Ranks)
	for _, b := range append(decoding, prefill...) {
		s := b.shapes(c, x, o.Type)
		plans := []interface {
			Memory(ranks int) (plan.Memory, error)
		}{s.embed, decode.Shape(s.layer), s.head, s.gather}
		if b.spread {
			plans[0], plans[1] = reducescatteroneshot.Shape(s.embed), s.layer
		}
		for _, p := range plans {
			m, err := p.Memory(x.Ranks)
			if err != nil {
				return 0, 0, err
			}
			staging, words, workspaces = max(staging, m.Staging), words+m.Words, max(workspaces, m.Workspace())
		}
	}
	return group.ArenaBytes(staging, words), workspaces, nil
}

// plan makes the plans of all buckets and captures their steps, the largest first.
func (r *Rank) plan(ctx context.Context) error {
	r.decode, r.prefill = r.buckets(r.Ranks)
	for _, list := range [][]*bucket{r.prefill, r.decode} {
		for i := len(list) - 1; i >= 0; i-- {
			b := list[i]
			err := r.plans(ctx, b)
			if err == nil {
				b.graph, err = device.Capture(r.driver, r.stream.Handle(), func() error { return r.enqueue(ctx, b) })
			}
			if err != nil {
				return fmt.Errorf("steps of %d rows: %w", b.rows, err)
			}
		}
	}
	return nil
}

// plans makes those of a bucket, and binds the memory that peers use.
func (r *Rank) plans(ctx context.Context, b *bucket) error {
	s, m := b.shapes(r.Config, r.Cut, r.Type), r.memory
	if b.spread {
		e, err := reducescatteroneshot.New(ctx, r.group, reducescatteroneshot.Shape(s.embed))
		if err == nil {
			b.embed, err = e.Plan, e.Bind(ctx, reducescatteroneshot.Buffers{A: m.embedded, C: m.x[0]})
		}
		if err != nil {
			return err
		}
		l, err := prefill.New(ctx, r.group, s.layer)
		if err != nil {
			return err
		}
		b.layer, b.bind = l.Plan, func(ctx context.Context, x prefill.Buffers, attention plan.Call) error {
			l.Attention = attention
			return l.Bind(ctx, x)
		}
	} else {
		e, err := allreduceoneshot.New(ctx, r.group, s.embed)
		if err == nil {
			b.embed, err = e.Plan, e.Bind(ctx, allreduceoneshot.Buffers{A: m.embedded, C: m.x[0]})
		}
		if err != nil {
			return err
		}
		l, err := decode.New(ctx, r.group, decode.Shape(s.layer))
		if err != nil {
			return err
		}
		b.layer, b.bind = l.Plan, func(ctx context.Context, x prefill.Buffers, attention plan.Call) error {
			l.Attention = attention
			return l.Bind(ctx, decode.Buffers(x))
		}
	}
	h, err := head.New(ctx, r.group, s.head)
	if err == nil {
		b.head, err = h.Plan, h.Bind(ctx, head.Buffers{A: m.last, Vocabulary: r.head, Logits: m.logits})
	}
	if err != nil {
		return err
	}
	g, err := allgatheroneshot.New(ctx, r.group, s.gather)
	if err == nil {
		b.gather, err = g.Plan, g.Bind(ctx, allgatheroneshot.Buffers{A: m.best, C: m.all})
	}
	return err
}

// enqueue is a whole step. Only numbers in device memory differ from one to the next, so that its graph can be
// launched again.
func (r *Rank) enqueue(ctx context.Context, b *bucket) error {
	on, m, h := r.stream.Handle(), r.memory, uint64(r.Hidden)
	word := func(i int) device.Ptr { return m.input + device.Ptr(4*i) }
	rows := kernels.Rows{Count: uint64(b.rows), Tokens: word(0), Sequences: word(b.rows), Positions: word(2 * b.rows)}
	errs := []error{
		r.kernels.Embed(on, kernels.Embed{Rows: rows, Dst: m.embedded, Table: r.embedding, Columns: h,
			First: uint64(r.FirstToken()), Tokens: uint64(r.RealTokens(r.Config))}),
		b.embed.Enqueue(on),
	}
	from, to := m.x[0], m.x[1]
	for _, l := range r.layers {
		errs = append(errs, b.bind(ctx, prefill.Buffers{A: from, Norm: l.norm, Wq: l.query, Wk: l.key, Wv: l.value,
			Wo: l.output, Norm2: l.norm2, Gate: l.gate, Up: l.up, Down: l.down, C: to}, r.attention(b, rows, l)),
			b.layer.Enqueue(on))
		from, to = to, from
	}
	wanted := uint64(b.wanted)
	errs = append(errs,
		r.kernels.Last(on, kernels.Last{Count: wanted / uint64(r.Ranks), Columns: h, Rows: word(3 * b.rows), Src: from,
			Weight: r.norm, Dst: m.last, Epsilon: float32(r.Epsilon)}),
		b.head.Enqueue(on),
		r.kernels.Best(on, kernels.Best{Rows: wanted, Columns: uint64(r.Tokens), First: uint64(r.FirstToken()),
			Tokens: uint64(r.RealTokens(r.Config)), Logits: m.logits, Dst: m.best}),
		b.gather.Enqueue(on),
		r.kernels.Choose(on, kernels.Choose{Rows: wanted, Ranks: uint64(r.Ranks), From: m.all, Dst: m.next}))
	return errors.Join(errs...)
}

// attention is the call between a layer's products: it turns and keeps the new keys, and looks back.
func (r *Rank) attention(b *bucket, rows kernels.Rows, l layer) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		look := r.kernels.Decode
		if b.prompt {
			look = r.kernels.Prefill
		}
		return errors.Join(
			r.kernels.Store(on, kernels.Store{Rows: rows, Heads: r.heads, Key: from[1].At, Value: from[2].At,
				Keys: l.keys, Values: l.values}),
			look(on, kernels.Attend{Rows: rows, Heads: r.heads, Query: from[0].At, Keys: l.keys, Values: l.values,
				Dst: to.At, Parts: r.memory.parts, Stretches: uint64(r.stretches()),
				Scale: float32(1 / math.Sqrt(float64(r.HeadSize)))}))
	}
}

// want writes which rows this rank norms for the logits, -1 for none, and returns the rows of logits that answer.
func (b *bucket) want(x Cut, rows int, wanted []int32) (answers []int) {
	for i := range wanted {
		wanted[i] = -1
	}
	if b.prompt {
		owner, row := 0, rows-1
		if b.spread {
			owner, row = row/(b.rows/x.Ranks), row%(b.rows/x.Ranks)
		}
		if owner == x.Rank {
			wanted[0] = int32(row)
		}
		return []int{owner}
	}
	for i := range rows {
		if at := i - x.Rank*len(wanted); at >= 0 && at < len(wanted) {
			wanted[at] = int32(i)
		}
		answers = append(answers, i)
	}
	return answers
}
