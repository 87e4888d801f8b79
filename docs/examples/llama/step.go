package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Bucket is a kind of step, of at most Rows rows.
type Bucket struct {
	Rows   int
	Prompt bool // rows of one prompt; else the last token of each of several sequences, which get their next ones
	Spread bool // between products each rank has a part of the rows; else all of them
}

// bucket is a Bucket's plan, which all layers share, and the graph of the whole step.
type bucket struct {
	Bucket
	layer plan.Runner
	bind  func(context.Context, Buffers) error
	head  driver.Product // the logits of this rank's part of the vocabulary
	graph *device.Graph
}

// shape is the shape of a layer's plan for a bucket.
func (r *Rank) shape(b Bucket) Shape {
	keys := r.params.Keys // of a rank, or with them all that a product makes
	if !b.Spread && !r.apart {
		keys = r.params.Queries + 2*keys
	}
	return Shape{M: r.padded(b), K: r.Hidden, N: r.Heads * r.HeadSize, N2: r.Ranks * keys * r.HeadSize,
		N3: 2 * r.Intermediate, F: r.Intermediate, W: r.HeadSize, Type: r.Type, Epsilon: float32(r.Epsilon)}
}

// padded counts a bucket's rows. Where they are spread it is rounded up to a multiple of the ranks.
func (s Spec) padded(b Bucket) int {
	if b.Spread {
		return multiple(b.Rows, s.Ranks)
	}
	return b.Rows
}

// plan makes the plans of all buckets and captures their steps. The last bucket, the largest, is first.
func (r *Rank) plan() (err error) {
	for _, x := range slices.Backward(r.Buckets) {
		b := &bucket{Bucket: x}
		b.layer, b.bind, err = programOf(r.family, b.Spread, calls{r.attend(b), r.gate}).New(r.ctx, r.group, r.shape(x))
		if err != nil {
			return err
		}
		if !b.Prompt {
			b.head, err = r.driver.MatmulCreate(r.product(b.Rows))
		}
		if err != nil {
			return err
		}
		b.graph, err = device.Capture(r.driver, r.stream.Handle(), func() error { return r.enqueue(b) })
		if err != nil {
			return fmt.Errorf("steps of %d rows: %w", b.Rows, err)
		}
		r.buckets = append(r.buckets, b)
	}
	slices.Reverse(r.buckets)
	return nil
}

// product is the head's: weights of the model's type, and logits in fp32, since those of 16 bits tie.
func (r *Rank) product(rows int) driver.MatmulDesc {
	d := driver.MatmulDesc{M: rows, K: r.Hidden, N: r.params.Columns, Type: driver.FP32, Transposed: true}
	if r.Type != d.Type {
		d.Of = r.Type
	}
	return d
}

// enqueue enqueues a whole step. Steps differ only by numbers in device memory, so the graph of one serves all.
func (r *Rank) enqueue(b *bucket) error {
	on, p := r.stream.Handle(), &r.params
	p.Count = r.padded(b.Bucket)
	own := *p
	if b.Spread {
		own.Count /= r.Ranks
		own.Rows += driver.Ptr(r.rank * own.Count * rowBytes)
	}
	own.Norm = *r.layers[0].buffers["Norm"]
	err := r.kernels.Launch(on, "embed", own)
	from, to := rows{p.X, p.Normed}, r.other
	for _, l := range r.layers {
		p.CacheKeys, p.CacheValues = l.keys, l.values
		l.buffers["A"], l.buffers["X"], l.buffers["C"], l.buffers["Z"] = &from.rows, &from.normed, &to.rows, &to.normed
		err = errors.Join(err, b.bind(r.ctx, l.buffers), b.layer.Enqueue(on))
		from, to = to, from
	}
	if b.Prompt {
		return err
	}
	return errors.Join(err,
		r.driver.Matmul(b.head,
			driver.Operands{C: p.Logits, A: from.normed, B: r.head, Workspace: r.workspace}, on),
		r.kernels.Launch(on, "best", *p))
}

// attend is the call between a layer's products. It stores the new keys, rotated, and values, and attends to all.
func (r *Rank) attend(b *bucket) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) (err error) {
		p := r.params
		queries, keys := p.Queries*p.Size, p.Keys*p.Size
		p.Query, p.To, p.WideQuery, p.WideKey = from[0].At, to.At, queries, keys
		if len(from) == 3 {
			p.Key, p.Value = from[1].At, from[2].At
		} else {
			p.WideQuery = queries + 2*keys
			p.WideKey = p.WideQuery
			p.Key = p.Query + driver.Ptr(r.Type.Bytes(queries))
			p.Value = p.Key + driver.Ptr(r.Type.Bytes(keys))
		}
		looks := []string{"decode", "merge"}
		if b.Prompt {
			looks = []string{"store", "prefill"}
		}
		for _, name := range looks {
			err = errors.Join(err, r.kernels.Launch(on, name, p))
		}
		return err
	}
}

// gate is the call between the products of the MLP.
func (r *Rank) gate(on driver.Stream, to plan.Range, from []plan.Range) error {
	p := r.params
	p.Gates, p.Gated = from[0].At, to.At
	return r.kernels.Launch(on, "gate", p)
}

// Row is a token at a position of a sequence.
type Row struct{ Token, Sequence, Position int32 }

// Best is the greatest logit of a row on a rank, and its token.
type Best struct {
	Logit float32
	Token int32
}

// Batch is the rows of one step. Rows of a prompt follow each other in one sequence; others are one of each sequence.
type Batch struct {
	Prompt bool
	Rows   []Row
}

// rowBytes and bestBytes are the sizes of a Row and a Best.
const rowBytes, bestBytes = 12, 8

// Step runs the rows through the model. Unless they are a prompt's, best gets the likeliest next token of each row
// among this rank's tokens. All ranks call it with the same rows. After an error the rank can only be closed.
func (r *Rank) Step(s Batch, best *[]Best) error {
	return r.group.Do(func() error {
		n := len(s.Rows)
		i := slices.IndexFunc(r.buckets, func(b *bucket) bool { return b.Prompt == s.Prompt && b.Rows >= n })
		if i < 0 || n == 0 {
			return fmt.Errorf("no bucket has %d rows", n)
		}
		b := r.buckets[i]
		none := Row{Sequence: int32(r.Sequences)}
		rows := append(slices.Clone(s.Rows), slices.Repeat([]Row{none}, r.padded(b.Bucket)-n)...)
		input, err := binary.Append(nil, binary.LittleEndian, rows)
		if err != nil {
			return err
		}
		if err := r.driver.MemcpyHtoD(r.params.Rows, input); err != nil {
			return err
		}
		if err := b.graph.Launch(r.stream.Handle()); err != nil {
			return err
		}
		if err := r.group.Watch(r.ctx, r.stream.Handle()); err != nil || s.Prompt {
			return err
		}
		output := make([]byte, n*bestBytes)
		if err := r.driver.MemcpyDtoH(output, r.params.Best); err != nil {
			return err
		}
		*best = make([]Best, n)
		_, err = binary.Decode(output, binary.LittleEndian, *best)
		return err
	})
}
