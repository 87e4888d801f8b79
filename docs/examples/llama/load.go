package main

import (
	"fmt"

	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/device"
)

// Needs is the device memory of a rank in bytes.
type Needs struct {
	Weights, Cache, Activations int64
	Arena                       int64 // Config.Arena of the group
	Workspaces                  int64 // of the plans, which New allocates
}

// Needs is what each rank needs, at most. It allocates nothing, and asks no GPU.
func (s Spec) Needs(c Config) (Needs, error) {
	x, err := NewCut(c, 0, s.Ranks)
	if err != nil {
		return Needs{}, err
	}
	m := loader{r: &Rank{Config: c, Options: s.Options, Cut: x}}
	m.load()
	m.needs.Arena, m.needs.Workspaces, err = planned(c, s.Options, x)
	return m.needs, err
}

// load allocates and fills all device memory, before the first run of any rank.
func (r *Rank) load(t *Tensors) (err error) {
	if r.Cut, err = NewCut(r.Config, r.group.Rank(), r.group.Size()); err != nil {
		return err
	}
	if r.kernels, err = kernels.Load(r.driver, r.Type); err != nil {
		return err
	}
	if r.stream, err = device.NewStream(r.driver, device.Normal); err != nil {
		return err
	}
	m := loader{r: r, tensors: t, shapes: r.tensors()}
	m.load()
	return m.err
}

// loader allocates and fills a rank's device memory until something fails. Without tensors it only counts.
type loader struct {
	r       *Rank
	tensors *Tensors
	shapes  map[string][]int // of the weights, by name
	needs   Needs
	of      *int64 // the part of needs that grows
	err     error
}

func (m *loader) load() {
	m.of = &m.needs.Weights
	m.weights()
	m.of = &m.needs.Cache
	r := m.r
	for i := range r.layers {
		bytes := r.Type.Bytes((r.Sequences + 1) * r.Room * r.Keys * r.HeadSize)
		r.layers[i].keys, r.layers[i].values = m.alloc(bytes), m.alloc(bytes)
	}
	m.of = &m.needs.Activations
	m.activations()
}

func (m *loader) weights() {
	r := m.r
	h, d, group := r.Hidden, r.HeadSize, r.Heads/r.KeyHeads
	r.heads = kernels.Heads{Queries: uint64(r.Queries), Keys: uint64(r.Keys), Group: uint64(group),
		Offset: uint64(r.FirstQuery - r.FirstKey*group), Size: uint64(d), Sequences: uint64(r.Sequences + 1),
		Room: uint64(r.Room), Angles: m.fill(little(r.Angles(r.Room)))}
	vocabulary := Part{Row: r.FirstToken(), Rows: r.Tokens, Columns: h}
	r.embedding = m.weight("model.embed_tokens.weight", Part{Rows: r.Vocabulary, Columns: h}, r.Type)
	name := "lm_head.weight"
	if r.Tied {
		name = "model.embed_tokens.weight"
	}
	r.head = m.weight(name, vocabulary, device.FP32)
	r.norm = m.vector("model.norm.weight")
	query := Part{Row: r.FirstQuery * d, Rows: r.Queries * d, Columns: h}
	key := Part{Row: r.FirstKey * d, Rows: r.Keys * d, Columns: h}
	up := Part{Row: r.Rank * r.Columns, Rows: r.Columns, Columns: h}
	for i := range r.Layers {
		at := fmt.Sprintf("model.layers.%d.", i)
		r.layers = append(r.layers, layer{layerBuffers: layerBuffers{
			Norm:  m.vector(at + "input_layernorm.weight"),
			Wq:    m.weight(at+"self_attn.q_proj.weight", query, r.Type),
			Wk:    m.weight(at+"self_attn.k_proj.weight", key, r.Type),
			Wv:    m.weight(at+"self_attn.v_proj.weight", key, r.Type),
			Wo:    m.weight(at+"self_attn.o_proj.weight", transposed(query), r.Type),
			Norm2: m.vector(at + "post_attention_layernorm.weight"),
			Gate:  m.weight(at+"mlp.gate_proj.weight", up, r.Type),
			Up:    m.weight(at+"mlp.up_proj.weight", up, r.Type),
			Down:  m.weight(at+"mlp.down_proj.weight", transposed(up), r.Type),
		}})
	}
}

// transposed is the part of the second product's weight that belongs to a part of the first one's.
func transposed(p Part) Part { return Part{Rows: p.Columns, Column: p.Row, Columns: p.Rows} }

// stretches are the parts in which attention of one row takes the context.
func (r *Rank) stretches() int { return (r.Room + kernels.Stretch - 1) / kernels.Stretch }

func (m *loader) activations() {
	r, few, most := m.r, m.r.Ranks, 0 // rows of logits, and of all
	for _, n := range r.Decode {
		few, most = max(few, multiple(n, r.Ranks)), max(most, n)
	}
	parts := most * r.Queries * r.stretches() * (2 + r.HeadSize)
	for _, n := range r.Prefill {
		most = max(most, multiple(n, r.Ranks))
	}
	rows := r.Type.Bytes(most * r.Hidden)
	r.memory = activations{
		input: m.alloc(4 * int64(3*most+few)), x: [2]device.Ptr{m.alloc(rows), m.alloc(rows)},
		parts: m.alloc(4 * int64(parts)), last: m.alloc(4 * int64(few/r.Ranks*r.Hidden)),
		zeros: m.fill(make([]byte, 4*r.Tokens)), logits: m.alloc(4 * int64(few*r.Tokens)),
		best: m.alloc(kernels.PairBytes * int64(few)),
	}
}

// multiple is the next multiple of a number.
func multiple(n, of int) int { return (n + of - 1) / of * of }

func (m *loader) alloc(bytes int64) (at device.Ptr) {
	*m.of += bytes
	if m.err == nil && m.tensors != nil {
		at, m.err = m.r.driver.MemAlloc(max(bytes, 16))
	}
	return at
}

func (m *loader) fill(data []byte) device.Ptr {
	at := m.alloc(int64(len(data)))
	if m.err == nil && m.tensors != nil {
		m.err = m.r.driver.MemcpyHtoD(at, data)
	}
	return at
}

func (m *loader) weight(name string, p Part, typ device.Type) device.Ptr {
	if m.tensors == nil {
		return m.alloc(typ.Bytes(p.Rows * p.Columns))
	}
	if m.err != nil {
		return 0
	}
	var data []byte
	data, m.err = m.tensors.Read(name, m.shapes[name], p, typ)
	return m.fill(data)
}

func (m *loader) vector(name string) device.Ptr {
	return m.weight(name, Part{Rows: 1, Columns: m.r.Hidden}, m.r.Type)
}
