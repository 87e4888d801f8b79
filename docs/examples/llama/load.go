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
	m := loader{Rank: &Rank{Config: c, Options: s.Options, Cut: x}}
	m.load()
	plans, err := planned(c, s.Options, x)
	m.needs.Arena, m.needs.Workspaces = plans.Arena(), plans.Workspace()
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
	m := loader{Rank: r, tensors: t}
	m.load()
	return m.err
}

// loader allocates and fills a rank's device memory until something fails. Without tensors it only counts.
type loader struct {
	*Rank
	tensors *Tensors
	needs   Needs
	of      *int64 // the part of needs that grows
	err     error
}

func (m *loader) load() {
	m.of = &m.needs.Weights
	m.weights()
	m.of = &m.needs.Cache
	for i := range m.layers {
		bytes := m.Type.Bytes((m.Sequences + 1) * m.Room * m.Keys * m.HeadSize)
		m.layers[i].keys, m.layers[i].values = m.alloc(bytes), m.alloc(bytes)
	}
	m.of = &m.needs.Activations
	m.activations()
}

func (m *loader) weights() {
	h, d, group := m.Hidden, m.HeadSize, m.Heads/m.KeyHeads
	m.heads = kernels.Heads{Queries: uint64(m.Queries), Keys: uint64(m.Keys), Group: uint64(group),
		Offset: uint64(m.FirstQuery - m.FirstKey*group), Size: uint64(d), Sequences: uint64(m.Sequences + 1),
		Room: uint64(m.Room), Angles: m.fill(little(m.Angles(m.Room)))}
	vocabulary := []int{m.Vocabulary, h}
	m.embedding = m.weight("model.embed_tokens", Part{Shape: vocabulary, Count: m.Vocabulary}, m.Type)
	head := "lm_head"
	if m.Tied {
		head = "model.embed_tokens"
	}
	m.head = m.weight(head, Part{Shape: vocabulary, From: m.FirstToken(), Count: m.Tokens}, device.FP32)
	norm := Part{Shape: []int{h}, Count: h}
	m.norm = m.weight("model.norm", norm, m.Type)
	query := Part{Shape: []int{m.Heads * d, h}, From: m.FirstQuery * d, Count: m.Queries * d}
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

// stretches are the parts in which attention of one row takes the context.
func (r *Rank) stretches() int { return (r.Room + kernels.Stretch - 1) / kernels.Stretch }

func (m *loader) activations() {
	few, most := 0, 0 // rows of logits, and of all
	for _, b := range m.buckets(m.Ranks) {
		few, most = max(few, b.wanted), max(most, b.rows)
	}
	rows := m.Type.Bytes(most * m.Hidden)
	m.memory = activations{
		input: m.alloc(4 * int64(3*most+few)), x: [2]device.Ptr{m.alloc(rows), m.alloc(rows)},
		parts: m.alloc(4 * int64(few*m.Queries*m.stretches()*(2+m.HeadSize))),
		last:  m.alloc(4 * int64(few/m.Ranks*m.Hidden)), zeros: m.fill(make([]byte, 4*m.Tokens)),
		logits: m.alloc(4 * int64(few*m.Tokens)), best: m.alloc(kernels.PairBytes * int64(few)),
	}
}

// multiple is the next multiple of a number.
func multiple(n, of int) int { return (n + of - 1) / of * of }

func (m *loader) alloc(bytes int64) (at device.Ptr) {
	*m.of += bytes
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
		n, each := p.runs()
		return m.alloc(typ.Bytes(n * p.Count * each))
	}
	data, err := m.tensors.Read(name+".weight", p, typ)
	m.err = err
	return m.fill(data)
}
