package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/safetensors"
)

// Rank is one rank's part of the decoder. Its device memory lives as long as the group's device.
type Rank struct {
	Model
	Cut
	ctx       context.Context // of its steps
	group     *group.Group
	driver    driver.Driver
	stream    *device.Stream
	kernels   kernels.Set
	params    kernels.Params // but for what differs from launch to launch
	layers    []layer
	memory    []memory
	needs     plan.Memory // at most, of any rank
	other     device.Ptr  // as params.X: a layer reads one and writes the other
	head      device.Ptr  // fp32
	workspace device.Ptr  // of the head's product
	buckets   []*bucket
}

// layer is the weights of one, and its part of the cache: [sequences+1, room, keys, size]. The last sequence is that
// of rows that only fill a bucket.
type layer struct {
	decode.Buffers // but for A and C
	keys, values   device.Ptr
}

// Cut is a rank's share of a model, in Megatron's way: columns of the first product of a pair, rows of the second.
type Cut struct {
	Rank           int
	Queries, Keys  int // heads: as many on each rank; some heads of keys may be on several
	FirstKey       int
	Columns        int // of the MLP
	Tokens         int // of the vocabulary, which is padded with zeros to multiples of 64 a rank
	First, Padding int // the first of them, and how many are none
}

// NewCut cuts a model for a rank. Ranks must divide the query heads and the MLP's columns.
func NewCut(c Config, rank, ranks int) (Cut, error) {
	if ranks < 1 || c.Heads%ranks != 0 || c.Intermediate%ranks != 0 {
		return Cut{}, fmt.Errorf("cut the model for %d ranks: they must be 1 or more, and divide num_attention_heads, "+
			"%d, and intermediate_size, %d", ranks, c.Heads, c.Intermediate)
	}
	x := Cut{Rank: rank, Queries: c.Heads / ranks, Columns: c.Intermediate / ranks,
		Tokens: multiple(c.Vocabulary, 64*ranks) / ranks}
	group := c.Heads / c.KeyHeads
	for r := range ranks { // which head of keys a rank's first and last query heads read
		first, last := r*x.Queries/group, ((r+1)*x.Queries-1)/group
		x.Keys = max(x.Keys, last-first+1)
	}
	x.FirstKey, x.First = min(rank*x.Queries/group, c.KeyHeads-x.Keys), rank*x.Tokens
	x.Padding = min(max(x.First+x.Tokens-c.Vocabulary, 0), x.Tokens)
	return x, nil
}

// multiple is the next multiple of a number.
func multiple(n, of int) int { return (n + of - 1) / of * of }

// memory is device memory of a rank: how much, where its address goes, and what is in it at first.
type memory struct {
	bytes int64
	to    *device.Ptr
	fill  func() ([]byte, error) // nil: anything
}

// NewRank cuts a model for a rank, and counts what it needs. An error says what keeps all ranks from serving the model.
func NewRank(m Model, rank int) (*Rank, error) {
	cut, err := NewCut(m.Config, rank, m.Ranks)
	if err != nil {
		return nil, err
	}
	r := &Rank{Model: m, Cut: cut, layers: make([]layer, m.Layers)}
	for _, b := range m.Buckets {
		needs, err := programOf(b.Spread, nil).Memory(r.shape(b), m.Ranks)
		if err != nil {
			return nil, err
		}
		r.needs.Beside(needs)
	}
	r.needs.Buffers = nil // those of all layers are added
	err = r.weights()
	r.activations()
	return r, err
}

// add lists memory for something.
func (r *Rank) add(what string, bytes int64, to *device.Ptr, fill func() ([]byte, error)) {
	r.memory = append(r.memory, memory{bytes, to, fill})
	if all := r.needs.Buffers; len(all) == 0 || all[len(all)-1].Name != what {
		r.needs.Buffers = append(all, plan.BufferMemory{Name: what})
	}
	r.needs.Buffers[len(r.needs.Buffers)-1].Bytes += bytes
}

// weights are the rank's parts of the checkpoint's tensors.
func (r *Rank) weights() (err error) {
	add := func(name string, p safetensors.Part, typ device.Type, to *device.Ptr) {
		p.Name, p.Type = name+".weight", typ
		err = cmp.Or(err, r.Tensors.Check(p))
		r.add("weights", p.Bytes(), to, func() ([]byte, error) { return r.Tensors.Read(p) })
	}
	h, d := r.Hidden, r.HeadSize
	tokens, head := safetensors.Part{Shape: []int{r.Vocabulary, h}, Count: r.Vocabulary}, "lm_head"
	if add("model.embed_tokens", tokens, r.Type, &r.params.Embedding); r.Tied {
		head = "model.embed_tokens"
	}
	tokens.From, tokens.Count = r.First, r.Tokens
	add(head, tokens, device.FP32, &r.head)
	norm := safetensors.Part{Shape: []int{h}, Count: h}
	add("model.norm", norm, r.Type, &r.params.Norm)
	query := safetensors.Part{Shape: []int{r.Heads * d, h}, From: r.Rank * r.Queries * d, Count: r.Queries * d}
	key := safetensors.Part{Shape: []int{r.KeyHeads * d, h}, From: r.FirstKey * d, Count: r.Keys * d}
	up := safetensors.Part{Shape: []int{r.Intermediate, h}, From: r.Rank * r.Columns, Count: r.Columns}
	for i := range r.layers {
		l := &r.layers[i]
		for _, x := range []struct {
			name string
			part safetensors.Part
			to   *device.Ptr
		}{
			{"input_layernorm", norm, &l.Norm}, {"self_attn.q_proj", query, &l.Wq}, {"self_attn.k_proj", key, &l.Wk},
			{"self_attn.v_proj", key, &l.Wv}, {"self_attn.o_proj", query.Transposed(), &l.Wo},
			{"post_attention_layernorm", norm, &l.Norm2}, {"mlp.gate_proj", up, &l.Gate}, {"mlp.up_proj", up, &l.Up},
			{"mlp.down_proj", up.Transposed(), &l.Down},
		} {
			add(fmt.Sprintf("model.layers.%d.%s", i, x.name), x.part, r.Type, x.to)
		}
	}
	return err
}

// activations are the cache, and the memory that all steps use in turn.
func (r *Rank) activations() {
	few := r.most(false)
	most := multiple(max(few, r.most(true)), r.Ranks)
	group, stretches := r.Heads/r.KeyHeads, (r.Room+kernels.Stretch-1)/kernels.Stretch
	p := &r.params
	p.Hidden, p.Columns, p.First, p.Tokens = r.Hidden, r.Tokens, r.First, r.Tokens-r.Padding
	p.Queries, p.Keys, p.Group, p.Offset = r.Queries, r.Keys, group, r.Rank*r.Queries-r.FirstKey*group
	p.Size, p.Places, p.Room, p.Stretches = r.HeadSize, r.Sequences+1, r.Room, stretches
	p.Scale, p.Epsilon = float32(1/math.Sqrt(float64(r.HeadSize))), float32(r.Epsilon)
	for i := range r.layers {
		bytes := r.Type.Bytes(p.Places * p.Room * p.Keys * p.Size)
		r.add("cache", bytes, &r.layers[i].keys, nil)
		r.add("cache", bytes, &r.layers[i].values, nil)
	}
	angles := func() ([]byte, error) { return binary.Append(nil, binary.LittleEndian, r.Angles(r.Room)) }
	for _, x := range []memory{
		{int64(most) * rowBytes, &p.Rows, nil},
		{r.Type.Bytes(most * r.Hidden), &p.X, nil},
		{r.Type.Bytes(most * r.Hidden), &r.other, nil},
		{4 * int64(few*r.Hidden), &p.Normed, nil},
		{4 * int64(few*r.Tokens), &p.Logits, nil},
		{8 * int64(few), &p.Best, nil},
		{4 * int64(few*r.Queries*stretches*(2+r.HeadSize)), &p.Parts, nil},
		{4 * int64(r.Room*r.HeadSize), &p.Angles, angles},
		{driver.WorkspaceBytes, &r.workspace, nil},
	} {
		r.add("activations", x.bytes, x.to, x.fill)
	}
}

// load makes a rank: its part of the model, and the plans and graphs of all buckets. It is collective.
func (m Model) load(ctx context.Context, g *group.Group) (*Rank, error) {
	r, err := NewRank(m, g.Rank())
	if err != nil {
		return nil, err
	}
	r.ctx, r.group, r.driver = ctx, g, g.Driver()
	return r, r.guarded("load the model", func() (err error) {
		for _, m := range r.memory {
			if *m.to, err = r.driver.MemAlloc(m.bytes); err != nil {
				return err
			}
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
		return r.plan()
	})
}

// guarded does what other ranks wait for: an error of it, or a panic, aborts the group.
func (r *Rank) guarded(what string, work func() error) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
		if err != nil {
			r.group.Abort(err)
			err = fmt.Errorf("%s: %w", what, err)
		}
	}()
	return work()
}

// Close leaves the group, which closes the plans.
func (r *Rank) Close(ctx context.Context) (err error) {
	for _, b := range r.buckets {
		err = errors.Join(err, b.graph.Close())
	}
	return errors.Join(err, r.stream.Close(), r.kernels.Close(), r.group.Close(ctx))
}
