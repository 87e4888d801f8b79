package main

import (
	"fmt"

	"ovgen/runtime/device"
	"ovgen/runtime/plan"
)

// Spec is which model is decoded, and how.
type Spec struct {
	Dir       string // the folder of its checkpoint
	Ranks     int
	Processes bool        // a process a rank, instead of a goroutine a rank
	NCCL      bool        // communicates, in place of ovgen's own ways
	Type      device.Type // of weights, activations and the cache: BF16 or FP32
	Sequences int         // at a time
	Room      int         // most positions of a sequence
	Buckets   []Bucket    // of each kind the smallest first
}

// Usual is how a server decodes.
var Usual = Spec{Ranks: 1, Type: device.BF16, Sequences: 64, Room: 4096, Buckets: []Bucket{
	{Rows: 1}, {Rows: 2}, {Rows: 4}, {Rows: 8}, {Rows: 16}, {Rows: 24}, {Rows: 32}, {Rows: 48}, {Rows: 64},
	{Rows: 16, Prompt: true}, {Rows: 64, Prompt: true}, {Rows: 256, Prompt: true},
	{512, true, true}, {1024, true, true}, {2048, true, true},
}}

// Model is a Spec with the checkpoint that it names.
type Model struct {
	Spec
	Config
	Tensors
}

// Open reads the model's config and its tensors' headers. An error is what keeps ranks from serving the model.
func (s Spec) Open() (m Model, needs plan.Memory, err error) {
	m = Model{Spec: s}
	if m.Config, err = ReadConfig(s.Dir); err != nil {
		return m, needs, err
	}
	m.Room = min(s.Room, m.Positions)
	if most := s.most(false); m.Room < 2 || s.Sequences < 1 || s.Sequences > most {
		return m, needs, fmt.Errorf("%d sequences of %d tokens (1 to %d of 2 tokens and more are served)", s.Sequences,
			m.Room, most)
	}
	if m.Tensors, err = OpenTensors(s.Dir); err != nil {
		return m, needs, err
	}
	needs, err = m.Needs()
	return m, needs, err
}

// Needs is the device memory that each rank needs, at most. It allocates nothing, and asks no GPU.
func (m Model) Needs() (all plan.Memory, err error) {
	r, list, err := NewRank(m, 0)
	if err != nil {
		return all, err
	}
	for _, b := range m.Buckets {
		needs, err := programOf(b.Spread, m.NCCL, nil).Memory(r.shape(b), m.Ranks)
		if err != nil {
			return all, err
		}
		all.Beside(needs)
	}
	all.Buffers = nil
	for _, x := range list {
		if n := len(all.Buffers); n == 0 || all.Buffers[n-1].Name != x.name {
			all.Buffers = append(all.Buffers, plan.BufferMemory{Name: x.name})
		}
		all.Buffers[len(all.Buffers)-1].Bytes += x.bytes
	}
	return all, nil
}

// most are the rows of the largest bucket of a kind.
func (s Spec) most(prompt bool) (rows int) {
	for _, b := range s.Buckets {
		if b.Prompt == prompt {
			rows = max(rows, b.Rows)
		}
	}
	return rows
}
