package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"ovgen/docs/examples/llama/generated/candidates"
	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/safetensors"
)

// Rank is one rank's part of the decoder.
type Rank struct {
	Model
	family
	ctx     context.Context // of its steps
	group   *group.Group
	driver  driver.Driver
	stream  *device.Stream
	kernels kernels.Set
	buckets []*bucket

	candidates *candidates.Plan
	launched   int     // steps
	flight     []Batch // that were launched, and nobody has waited for: slots at most
	over       [slots]landing

	rank      int
	rowsAt    device.Ptr     // of both slots
	params    kernels.Params // the fields that are the same in all launches
	firstKey  int            // of the model's heads of keys, the first one here
	layers    []layer
	first     rows // what embed makes: a layer reads one and writes the other
	other     rows
	o, g      device.Ptr // what attention and the gate make
	head      device.Ptr
	norm      device.Ptr    // the last one
	angles    [2]device.Ptr // of all positions, in global layers and in local ones
	workspace device.Ptr    // of the head's product
	memory    []memory
}

// rows are rows and their norm, and this in eight bits with a scale for each row.
type rows struct{ rows, normed, codes, scales device.Ptr }

// layer is a layer's weights, and its part of the cache: [sequences+1, room, keys, size]. Rows that only fill a bucket
// belong to the last sequence.
type layer struct {
	buffers      Buffers // its weights
	keys, values device.Ptr
	angles       *device.Ptr // of the rank's
}

// memory is a piece of a rank's memory: its bytes, the variable that gets its address, and its first contents.
type memory struct {
	bytes int64
	to    *device.Ptr
	fill  func() ([]byte, error) // nil: anything
	whole int64                  // of an allocation that begins here; 0: the piece lies behind the one before it
}

// NewRank cuts a model for a rank, and counts the memory that the rank needs. An error says why no rank can serve it.
func NewRank(m Model, rank int) (*Rank, error) {
	if m.Ranks < 1 || m.Heads%m.Ranks != 0 || m.Intermediate%m.Ranks != 0 {
		return nil, NeverError{fmt.Errorf("cut the model for %d ranks: they must be 1 or more, and divide "+
			"num_attention_heads, %d, and intermediate_size, %d", m.Ranks, m.Heads, m.Intermediate)}
	}
	r := &Rank{Model: m, family: families[m.Family], rank: rank, layers: make([]layer, m.Layers)}
	r.cut()
	var err error
	if r.forms, err = m.formsOf(r.family); err != nil {
		return nil, err
	}
	if m.ofEight() {
		r.family.weights = r.inEight(r.family.weights)
	}
	if r.many == nil {
		r.Buckets = whole(m.Buckets)
	}
	r.Needs = plan.Memory{}
	for _, b := range r.Buckets {
		needs, err := programOf(r.family, b, calls{}).Memory(r.shape(b), m.Ranks)
		if err != nil {
			return nil, NeverError{fmt.Errorf("cut the model for %d ranks, with hidden_size as K, num_attention_heads "+
				"times head_dim as N, and intermediate_size as F: %w", m.Ranks, err)}
		}
		r.Needs.Beside(needs)
	}
	needs, err := r.choices().Memory(m.Ranks)
	if err != nil {
		return nil, err
	}
	r.Needs.Beside(needs)
	r.Needs.Buffers = nil // weights and activations below add the buffers of all layers
	r.Needs.Tuning = max(r.Needs.Tuning, plan.TuningBytes(int64(m.most(false)), int64(m.Hidden),
		int64(r.params.Columns), r.Type.Size(), device.FP32.Size()))
	err = r.weights()
	r.activations()
	return r, err
}

// cut gives the rank its share, in Megatron's way: columns of the first product of a pair, rows of the second. All
// ranks have equally many query heads. A rank has each head of keys that its query heads read; neighbours may have the
// same head. The vocabulary is padded with zeros to a multiple of 64 on each rank.
func (r *Rank) cut() {
	queries, group := r.Heads/r.Ranks, r.Heads/r.KeyHeads
	tokens, keys := multiple(r.Vocabulary, 64*r.Ranks)/r.Ranks, 0
	for at := 0; at < r.Heads; at += queries {
		keys = max(keys, (at+queries-1)/group-at/group+1)
	}
	r.firstKey = min(r.rank*queries/group, r.KeyHeads-keys)
	r.params = kernels.Params{Hidden: r.Hidden, Width: r.Intermediate / r.Ranks, Epsilon: float32(r.Epsilon),
		Columns: tokens, First: r.rank * tokens, Tokens: max(0, min(tokens, r.Vocabulary-r.rank*tokens)),
		Ranks: r.Ranks, Most: multiple(r.most(false), 2), // a slot of All begins at a multiple of 16 bytes
		Queries: queries, Keys: keys, Group: group, Offset: r.rank*queries - r.firstKey*group,
		Size: r.HeadSize, Scale: float32(1 / math.Sqrt(r.QueryScalar)), Grows: 1,
		Places: r.Sequences + 1, Room: r.Room}
	if r.ScoreCap != nil {
		r.params.Cap = float32(*r.ScoreCap)
	}
	if r.grown {
		r.params.Grows, r.params.Beyond = float32(math.Sqrt(float64(r.Hidden))), 1
	}
}

// multiple is the next multiple of a number.
func multiple(n, of int) int { return (n + of - 1) / of * of }

// mostWhole is the most rows that all ranks have of a long prompt: each sends its sums of them to all others.
const mostWhole = 512

// whole are the buckets with all rows on every rank.
func whole(list []Bucket) (few []Bucket) {
	for _, b := range list {
		if b.Rows <= mostWhole {
			b.Spread = false
			few = append(few, b)
		}
	}
	return few
}

// add lists an allocation. what names its kind in Needs.
func (r *Rank) add(what string, bytes int64, to *device.Ptr, fill func() ([]byte, error)) {
	r.memory = append(r.memory, memory{bytes, to, fill, bytes})
	if all := r.Needs.Buffers; len(all) == 0 || all[len(all)-1].Name != what {
		r.Needs.Buffers = append(all, plan.BufferMemory{Name: what})
	}
	r.Needs.Buffers[len(r.Needs.Buffers)-1].Bytes += bytes
}

// weights lists the rank's parts of the checkpoint's tensors.
func (r *Rank) weights() (err error) {
	add := func(name string, p safetensors.Part, to *device.Ptr) {
		p.Name, p.Type = name, cmp.Or(p.Type, r.Type)
		err = cmp.Or(err, r.Tensors.Check(p))
		r.add("weights", p.Bytes(), to, func() ([]byte, error) { return r.Tensors.Read(p) })
	}
	p := &r.params
	tokens, head := safetensors.Part{Shape: []int{r.Vocabulary, r.Hidden}, Count: r.Vocabulary}, "lm_head.weight"
	if add("model.embed_tokens.weight", tokens, &p.Embedding); r.Tied {
		head = "model.embed_tokens.weight"
	}
	tokens.From, tokens.Count = p.First, p.Columns
	add(head, tokens, &r.head)
	add("model.norm.weight", wholeRow(r), &r.norm)
	next := &r.norm
	for i := range slices.Backward(r.layers) {
		all := Buffers{"Next": next, "O": &r.o, "G": &r.g}
		first := 0 // piece of the joint buffer
		for _, w := range r.family.weights {
			to := new(device.Ptr)
			all[w.buffer] = to
			if p := w.part(r, i); w.scales {
				r.add("weights", p.ScaleBytes(), to, func() ([]byte, error) { return r.Tensors.Scales(p) })
			} else {
				add(p.Name, p, to)
			}
			switch piece := &r.memory[len(r.memory)-1]; {
			case w.joint == "":
			case all[w.joint] == nil:
				all[w.joint], first = to, len(r.memory)-1
			default:
				r.memory[first].whole += piece.bytes
				piece.whole = 0
			}
		}
		r.layers[i].buffers, next = all, all["Norm"]
	}
	return err
}

// activations lists the cache, and the memory that all steps use one after the other.
func (r *Rank) activations() {
	few, p := r.most(false), &r.params
	most, whole := r.mostRows(), 0
	for _, b := range r.Buckets {
		if !b.Spread {
			whole = max(whole, b.Rows)
		}
	}
	locals := 0
	codes, named := r.codes()
	for i := range r.layers {
		maps.Copy(r.layers[i].buffers, named)
		r.layers[i].angles = &r.angles[0]
		if r.local(i) {
			r.layers[i].angles, locals = &r.angles[1], 1
		}
		bytes := r.Type.Bytes(p.Places * p.Room * p.Keys * p.Size)
		r.add("cache", bytes, &r.layers[i].keys, nil)
		r.add("cache", bytes, &r.layers[i].values, nil)
	}
	for _, x := range append(codes, []memory{
		{bytes: slots * int64(most) * kernels.RowBytes, to: &r.rowsAt},
		{bytes: r.Type.Bytes(most * r.Hidden), to: &r.first.rows},
		{bytes: r.Type.Bytes(most * r.Hidden), to: &r.first.normed},
		{bytes: r.Type.Bytes(most * r.Hidden), to: &r.other.rows},
		{bytes: r.Type.Bytes(whole * r.Hidden), to: &r.other.normed},
		{bytes: r.Type.Bytes(whole * p.Queries * p.Size), to: &r.o},
		{bytes: r.Type.Bytes(whole * p.Width), to: &r.g},
		{bytes: 4 * int64(few*p.Columns), to: &p.Logits},
		{bytes: bestBytes * int64(p.Most), to: &p.Best},
		{bytes: slots * bestBytes * int64(r.Ranks*p.Most), to: &p.All},
		{bytes: 4 * int64(few*p.Queries*kernels.Stretches*(4+p.Size)), to: &p.Parts},
		{bytes: 4 * int64(few*(p.Queries+1)), to: &p.Ended, fill: zeros(4 * few * (p.Queries + 1))},
		{bytes: bestBytes * int64(few*kernels.Pieces), to: &p.Found},
		{bytes: driver.WorkspaceBytes, to: &r.workspace},
	}...) {
		r.add("activations", x.bytes, x.to, x.fill)
	}
	for kind := range 1 + locals {
		r.add("activations", 4*int64(p.Room*p.Size), &r.angles[kind], func() ([]byte, error) {
			return binary.Append(nil, binary.LittleEndian, r.Angles(r.Room, kind == 1))
		})
	}
}

// zeros are so many bytes.
func zeros(n int) func() ([]byte, error) {
	return func() ([]byte, error) { return make([]byte, n), nil }
}

// load makes a rank: its part of the model, and the plans and graphs of all buckets. All ranks call it.
func (m Model) load(ctx context.Context, g *group.Group) (*Rank, error) {
	r, err := NewRank(m, g.Rank())
	if err != nil {
		return nil, err
	}
	r.ctx, r.group, r.driver = ctx, g, g.Driver()
	return r, g.Do(func() (err error) {
		var at device.Ptr
		for _, m := range r.memory {
			if m.whole > 0 {
				if at, err = r.driver.MemAlloc(m.whole); err != nil {
					return err
				}
			}
			*m.to = at
			at += device.Ptr(m.bytes)
			if m.fill == nil {
				continue
			}
			data, err := m.fill()
			if err == nil {
				err = r.driver.MemcpyHtoD(*m.to, data)
			}
			if err != nil {
				return err
			}
		}
		if r.kernels, err = kernels.Load(r.driver, r.Type); err != nil {
			return err
		}
		if r.stream, err = device.NewStream(r.driver, device.Normal); err != nil {
			return err
		}
		for i := range r.over {
			if r.over[i], err = newLanding(r.driver); err != nil {
				return err
			}
		}
		return r.plan()
	})
}

// Close leaves the group, which closes the plans. It frees the rank's memory where no step can still use it: closing
// a device does not, where a library keeps its context.
func (r *Rank) Close(ctx context.Context) (err error) {
	for _, b := range r.buckets {
		err = errors.Join(err, b.graphs[0].Close(), b.graphs[1].Close())
	}
	for _, l := range r.over {
		err = errors.Join(err, l.stream.Close(), l.event.Close())
	}
	whole := len(r.flight) == 0 && r.group.Err() == nil
	for _, b := range slices.Backward(r.buckets) { // as they were made
		if whole {
			err = errors.Join(err, b.layer.Close(ctx)) // peers have no memory of its any more
		}
	}
	for _, m := range r.memory {
		if m.whole > 0 && whole && r.group.Err() == nil {
			err = errors.Join(err, r.driver.MemFree(*m.to))
		}
	}
	return errors.Join(err, r.stream.Close(), r.kernels.Close(), r.group.Close(ctx))
}
