package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
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
	Prefill: []int{16, 64, 256, 512, 1024, 2048}, Decode: []int{1, 2, 4, 8, 16, 24, 32, 48, 64}}

// Rank is one rank's part of the decoder. Its device memory lives as long as the group's device.
type Rank struct {
	Config
	Options
	Cut
	group   *group.Group
	driver  driver.Driver
	stream  *device.Stream
	kernels kernels.Set
	buckets []*bucket

	attention             kernels.Attention // but for what differs from launch to launch
	embedding, norm, head device.Ptr        // head: fp32
	layers                []layer

	// Memory that all steps use in turn.
	input  device.Ptr    // int32: tokens, sequences, positions of each row; the wanted rows
	x      [2]device.Ptr // the residual: a layer reads one and writes the other
	last   device.Ptr    // fp32: normed rows
	zeros  device.Ptr    // fp32 [tokens of the rank]
	logits device.Ptr    // fp32 [rows, tokens of the rank]
	best   device.Ptr    // a Best each row
}

// layer is the weights of one, and its part of the cache: [sequences+1, room, keys, size]. The last sequence is that
// of rows that only fill a bucket.
type layer struct {
	layerBuffers // but for A and C
	keys, values device.Ptr
}

// Cut is a rank's share of a model, in Megatron's way: columns of the first product of a pair, rows of the second.
type Cut struct {
	Rank, Ranks    int
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
	x := Cut{Rank: rank, Ranks: ranks, Queries: c.Heads / ranks, Columns: c.Intermediate / ranks,
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

// NewRank loads this rank's part of a checkpoint and makes the plans and graphs of all buckets. It is collective.
func NewRank(ctx context.Context, g *group.Group, c Config, t *Tensors, o Options) (*Rank, error) {
	r := &Rank{Config: c, Options: o, group: g, driver: g.Driver()}
	if err := r.make(ctx, t); err != nil {
		g.Abort(err) // the other ranks wait for this one
		return nil, fmt.Errorf("make the decoder: %w", err)
	}
	return r, nil
}

func (r *Rank) make(ctx context.Context, t *Tensors) (err error) {
	if r.Cut, err = NewCut(r.Config, r.group.Rank(), r.group.Size()); err != nil {
		return err
	}
	if r.kernels, err = kernels.Load(r.driver); err != nil {
		return err
	}
	if r.stream, err = device.NewStream(r.driver, device.Normal); err != nil {
		return err
	}
	if m := (loader{Rank: r, tensors: t}).load(); m.err != nil {
		return m.err
	}
	return r.plan(ctx)
}

// Close leaves the group, which closes the plans.
func (r *Rank) Close(ctx context.Context) (err error) {
	for _, b := range r.buckets {
		err = errors.Join(err, b.graph.Close())
	}
	return errors.Join(err, r.stream.Close(), r.kernels.Close(), r.group.Close(ctx))
}

// Needs is the device memory that a rank needs, at most. It allocates nothing, and asks no GPU.
func (o Options) Needs(c Config, ranks int) (plan.Memory, error) {
	x, err := NewCut(c, 0, ranks)
	if err != nil {
		return plan.Memory{}, err
	}
	r := &Rank{Config: c, Options: o, Cut: x}
	needs, err := r.planned()
	needs.Buffers = loader{Rank: r}.load().needs
	return needs, err
}

// loader allocates and fills a rank's device memory until something fails. Without tensors it only counts.
type loader struct {
	*Rank
	tensors *Tensors
	needs   []plan.BufferMemory
	err     error
}

func (m loader) load() loader {
	m.counts("weights")
	m.weights()
	m.counts("cache")
	for i := range m.layers {
		bytes := m.Type.Bytes((m.Sequences + 1) * m.Room * m.Keys * m.HeadSize)
		m.layers[i].keys, m.layers[i].values = m.alloc(bytes), m.alloc(bytes)
	}
	m.counts("activations")
	m.activations()
	return m
}

func (m *loader) counts(name string) { m.needs = append(m.needs, plan.BufferMemory{Name: name}) }

func (m *loader) weights() {
	h, d := m.Hidden, m.HeadSize
	tokens, name := Part{Shape: []int{m.Vocabulary, h}, Count: m.Vocabulary}, "lm_head"
	m.embedding = m.weight("model.embed_tokens", tokens, m.Type)
	if m.Tied {
		name = "model.embed_tokens"
	}
	tokens.From, tokens.Count = m.First, m.Tokens
	m.head = m.weight(name, tokens, device.FP32)
	norm := Part{Shape: []int{h}, Count: h}
	m.norm = m.weight("model.norm", norm, m.Type)
	query := Part{Shape: []int{m.Heads * d, h}, From: m.Cut.Rank * m.Queries * d, Count: m.Queries * d}
	key := Part{Shape: []int{m.KeyHeads * d, h}, From: m.FirstKey * d, Count: m.Keys * d}
	up := Part{Shape: []int{m.Intermediate, h}, From: m.Cut.Rank * m.Columns, Count: m.Columns}
	for i := range m.Layers {
		part := func(name string, p Part) device.Ptr {
			return m.weight(fmt.Sprintf("model.layers.%d.%s", i, name), p, m.Type)
		}
		m.layers = append(m.layers, layer{layerBuffers: layerBuffers{
			Norm: part("input_layernorm", norm), Norm2: part("post_attention_layernorm", norm),
			Wq: part("self_attn.q_proj", query), Wo: part("self_attn.o_proj", query.transposed()),
			Wk: part("self_attn.k_proj", key), Wv: part("self_attn.v_proj", key),
			Gate: part("mlp.gate_proj", up), Up: part("mlp.up_proj", up), Down: part("mlp.down_proj", up.transposed()),
		}})
	}
}

func (m *loader) activations() {
	few, most := 0, 0 // rows of logits, and of all
	for _, b := range m.newBuckets(m.Ranks) {
		few, most = max(few, b.wanted), max(most, b.rows)
	}
	rows := m.Type.Bytes(most * m.Hidden)
	m.input, m.x = m.alloc(4*int64(3*most+few)), [2]device.Ptr{m.alloc(rows), m.alloc(rows)}
	m.last, m.zeros = m.alloc(4*int64(few/m.Ranks*m.Hidden)), m.fill(make([]byte, 4*m.Tokens))
	m.logits, m.best = m.alloc(4*int64(few*m.Tokens)), m.alloc(8*int64(few))
	group, stretches := m.Heads/m.KeyHeads, (m.Room+kernels.Stretch-1)/kernels.Stretch
	m.attention = kernels.Attention{Queries: m.Queries, Keys: m.Keys, Group: group,
		Offset: m.Cut.Rank*m.Queries - m.FirstKey*group, Size: m.HeadSize, Places: m.Sequences + 1, Room: m.Room,
		Angles: m.fill(little(m.Angles(m.Room))), Stretches: stretches,
		Parts: m.alloc(4 * int64(few*m.Queries*stretches*(2+m.HeadSize))),
		Scale: float32(1 / math.Sqrt(float64(m.HeadSize)))}
}

func (m *loader) alloc(bytes int64) (at device.Ptr) {
	m.needs[len(m.needs)-1].Bytes += bytes
	if m.err == nil && m.tensors != nil {
		at, m.err = m.driver.MemAlloc(max(bytes, 16))
	}
	return at
}

func (m *loader) fill(data []byte) device.Ptr {
	at := m.alloc(int64(len(data)))
	if m.err == nil && m.tensors != nil {
		m.err = m.driver.MemcpyHtoD(at, data)
	}
	return at
}

func (m *loader) weight(name string, p Part, typ device.Type) device.Ptr {
	if m.tensors == nil || m.err != nil {
		return m.alloc(typ.Bytes(p.Elements()))
	}
	var data []byte
	data, m.err = m.tensors.Read(name+".weight", p, typ)
	return m.fill(data)
}

// little is numbers of 4 bytes as the device has them.
func little[T int32 | float32](list []T) []byte {
	out, _ := binary.Append(nil, binary.LittleEndian, list) // it refuses only types without a size
	return out
}
