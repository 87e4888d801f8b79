package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ovgen/docs/examples/llama/generated/candidates"
	"ovgen/docs/examples/llama/kernels"
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
	layer  plan.Runner
	bind   func(context.Context, Buffers) error
	head   driver.Product // the logits of this rank's part of the vocabulary
	graphs [slots]*device.Graph
}

// slots are the places for rows and choices: a step is launched while the one before runs, and their memory is apart.
const slots = 2

// landing marks the end of a step on a stream of its own, so that the host need not wait for the next step too.
type landing struct {
	event  *device.Event
	stream *device.Stream
}

func newLanding(d driver.Driver) (l landing, err error) {
	if l.event, err = device.NewEvent(d, false); err == nil {
		l.stream, err = device.NewStream(d, device.Normal)
	}
	return l, err
}

// choices is the shape of the plan that brings the best tokens of all ranks to all: each is two words.
func (r *Rank) choices() candidates.Shape {
	return candidates.Shape{M: r.Ranks * r.params.Most, N: bestBytes / 4, Type: driver.FP32}
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

// scalesAtOnce divides the rows of a rank, as the library of products wants it of their scales.
const scalesAtOnce = 4

// padded counts a bucket's rows. Where they are spread it is rounded up to a multiple for each rank.
func (s Spec) padded(b Bucket) int {
	if b.Spread {
		return multiple(b.Rows, scalesAtOnce*s.Ranks)
	}
	return b.Rows
}

// plan makes the plans of all buckets and captures their steps. The last bucket, the largest, is first.
func (r *Rank) plan() (err error) {
	if r.candidates, err = candidates.New(r.ctx, r.group, r.choices()); err != nil {
		return err
	}
	for _, x := range slices.Backward(r.Buckets) {
		b := &bucket{Bucket: x}
		b.layer, b.bind, err = programOf(r.family, x, calls{r.attend(b), r.gate}).New(r.ctx, r.group, r.shape(x))
		if err != nil {
			return err
		}
		if !b.Prompt {
			b.head, err = r.driver.MatmulCreate(r.product(b.Rows))
		}
		if err == nil { // where peers read memory, the first Bind meets them, and can't be captured
			r.params.Count, r.params.Rows = r.padded(x), r.rowsOf(0)
			err = r.bind(b, r.layers[0], r.first, r.other)
		}
		if err != nil {
			return err
		}
		for slot := range b.graphs {
			step := func() error { return r.enqueue(b, slot) }
			if b.graphs[slot], err = device.Capture(r.driver, r.stream.Handle(), step); err != nil {
				return fmt.Errorf("steps of %d rows: %w", b.Rows, err)
			}
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
func (r *Rank) enqueue(b *bucket, slot int) error {
	on, p := r.stream.Handle(), &r.params
	p.Count, p.Rows = r.padded(b.Bucket), r.rowsOf(slot)
	own := *p
	if b.Spread {
		own.Count /= r.Ranks
		own.Rows += driver.Ptr(r.rank * own.Count * kernels.RowBytes)
	}
	from, to := r.first, r.other
	own.Norm, own.X, own.Normed = *r.layers[0].buffers["Norm"], from.rows, from.normed
	if r.scaled(b.Bucket) && r.square() == 0 {
		own.Codes, own.Scales = from.codes, from.scales
	}
	err := r.kernels.Launch(on, "embed", own)
	for _, l := range r.layers {
		err = errors.Join(err, r.bind(b, l, from, to), b.layer.Enqueue(on))
		from, to = to, from
	}
	if b.Prompt {
		return err
	}
	return errors.Join(err,
		r.driver.Matmul(b.head,
			driver.Operands{C: p.Logits, A: from.normed, B: r.head, Workspace: r.workspace}, on),
		r.kernels.Launch(on, "best", *p),
		r.candidates.Bind(r.ctx, candidates.Buffers{A: p.Best, C: r.allOf(slot)}), r.candidates.Enqueue(on))
}

// bind gives a bucket's plan, and the kernels between its products, a layer, which reads rows and leaves others.
func (r *Rank) bind(b *bucket, l layer, from, to rows) error {
	p := &r.params
	p.CacheKeys, p.CacheValues, p.Angles = l.keys, l.values, *l.angles
	x8 := from
	if b.Spread { // peers read it: it is the same memory in all layers
		x8 = r.first
	}
	for name, at := range map[string]*device.Ptr{"A": &from.rows, "X": &from.normed, "C": &to.rows, "Z": &to.normed,
		"X8": &x8.codes, "ScaleX8": &x8.scales, "Z8": &to.codes, "ScaleZ8": &to.scales} {
		l.buffers[name] = at
	}
	return b.bind(r.ctx, l.buffers)
}

// rowsOf is where the rows of a slot's steps are, and allOf where the best tokens of all ranks.
func (r *Rank) rowsOf(slot int) device.Ptr {
	return r.rowsAt + device.Ptr(slot*r.mostRows()*kernels.RowBytes)
}
func (r *Rank) allOf(slot int) device.Ptr {
	return r.params.All + device.Ptr(slot*r.Ranks*r.params.Most*bestBytes)
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
		looks := []string{"decode"}
		if b.Prompt {
			looks = []string{"store", "prefill"}
		}
		if to.Rows > 0 {
			p.To, p.Codes, p.Scales = r.o, to.At, to.Scales
			if b.Prompt {
				looks = append(looks, "codes")
			}
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
	if p.Gates = from[0].At; to.Rows > 0 {
		p.Codes, p.Scales = to.At, to.Scales
		return r.kernels.Launch(on, "gatecodes", p)
	}
	p.Gated = to.At
	return r.kernels.Launch(on, "gate", p)
}

// Row is a token at a position of a sequence. A negative token stands for the choice of a row of an earlier step.
type Row struct{ Token, Sequence, Position int32 }

// Best is the greatest logit of a row, and its token.
type Best struct {
	Logit float32
	Token int32
}

// better reports whether x is chosen before y: of equal logits the lowest token is.
func (x Best) better(y Best) bool {
	return x.Logit > y.Logit || x.Logit == y.Logit && x.Token < y.Token
}

// Batch is the rows of one step. Rows of a prompt follow each other in one sequence; others are one of each sequence.
type Batch struct {
	Prompt bool
	Rows   []Row
}

// Choice stands, as a Row's Token, for what a row of a crew's step will choose: of one that is among the last two when
// the step with that Row is launched. Steps are counted from 0.
func Choice(step, row int) int32 { return -1 - int32(step%slots<<16|row) }

// bestBytes is the size of a Best.
const bestBytes = 8

// shared are the rows as kernels read them, each with the number of blocks that share its positions.
func (r *Rank) shared(rows []Row) ([]byte, error) {
	positions := make([]int, len(rows))
	for i, row := range rows {
		positions[i] = int(row.Position) + 1
	}
	type sharedRow struct {
		Row
		Blocks int32
	}
	list := make([]sharedRow, len(rows))
	for i, blocks := range r.params.Share(positions, r.driver.Properties().Multiprocessors) {
		list[i] = sharedRow{rows[i], int32(blocks)}
	}
	return binary.Append(nil, binary.LittleEndian, list)
}

// Launch begins a step that runs the rows through the model. All ranks launch the same steps, the next one at most
// while one runs. After an error the rank can only be closed. The reply is empty.
func (r *Rank) Launch(s Batch, _ *bool) error {
	return r.group.Do(func() error {
		n, slot := len(s.Rows), r.launched%slots
		i := slices.IndexFunc(r.buckets, func(b *bucket) bool { return b.Prompt == s.Prompt && b.Rows >= n })
		if i < 0 || n == 0 || len(r.flight) == slots {
			return fmt.Errorf("no bucket has %d rows, or %d steps run", n, len(r.flight))
		}
		b := r.buckets[i]
		none := Row{Sequence: int32(r.Sequences)}
		rows := append(slices.Clone(s.Rows), slices.Repeat([]Row{none}, r.padded(b.Bucket)-n)...)
		input, err := r.shared(rows)
		if err != nil {
			return err
		}
		if err := r.driver.MemcpyHtoD(r.rowsOf(slot), input); err != nil {
			return err
		}
		if err := b.graphs[slot].Launch(r.stream.Handle()); err != nil {
			return err
		}
		r.launched++
		r.flight = append(r.flight, s)
		over := r.over[slot]
		return errors.Join(over.event.Record(r.stream), over.stream.Wait(over.event))
	})
}

// Wait ends the first step that was launched and not waited for. Unless it was a prompt's, best gets the likeliest next
// token of each row.
func (r *Rank) Wait(_ bool, best *[]Best) error {
	return r.group.Do(func() error {
		if len(r.flight) == 0 {
			return errors.New("wait: no step was launched")
		}
		s, slot := r.flight[0], (r.launched-len(r.flight))%slots
		r.flight = r.flight[1:]
		if err := r.group.Watch(r.ctx, r.over[slot].stream.Handle()); err != nil || s.Prompt {
			return err
		}
		few := r.params.Most
		output := make([]byte, r.Ranks*few*bestBytes)
		if err := r.driver.MemcpyDtoH(output, r.allOf(slot)); err != nil {
			return err
		}
		all := make([]Best, r.Ranks*few)
		if _, err := binary.Decode(output, binary.LittleEndian, all); err != nil {
			return err
		}
		*best = all[:len(s.Rows)]
		for i := range *best {
			for rank := 1; rank < r.Ranks; rank++ {
				if x := all[rank*few+i]; x.better(all[i]) {
					all[i] = x
				}
			}
		}
		return nil
	})
}
