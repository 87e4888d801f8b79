package main

import (
	"cmp"
	"fmt"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/safetensors"
)

// Spec names a model and says how it is decoded.
type Spec struct {
	Dir       string // the folder of its checkpoint
	Ranks     int
	Processes bool          // a process a rank, instead of a goroutine a rank
	Type      device.Type   // of weights, activations and the cache: BF16 or FP32
	Weights   device.Type   // of layers' products, where not Type: E4M3, made as they are read
	Sequences int           // at a time
	Room      int           // most positions of a sequence
	Timeout   time.Duration // most that a step takes; 0: group.DefaultTimeout
	Buckets   []Bucket      // of each kind the smallest first
}

// Usual is a server's Spec, without a model.
var Usual = Spec{Ranks: 1, Type: device.BF16, Sequences: 64, Room: 4096, Buckets: []Bucket{
	{Rows: 1}, {Rows: 2}, {Rows: 4}, {Rows: 8}, {Rows: 16}, {Rows: 24}, {Rows: 32}, {Rows: 48}, {Rows: 64},
	{Rows: 16, Prompt: true}, {Rows: 64, Prompt: true}, {Rows: 256, Prompt: true},
	{512, true, true}, {1024, true, true}, {2048, true, true},
}}

// Model is a Spec with the checkpoint that it names.
type Model struct {
	Spec
	Config
	safetensors.Tensors
	Needs plan.Memory // of the device, on each rank at most
}

// Open reads the model's config and its tensors' headers. An error says why ranks can't serve the model.
func (s Spec) Open() (m Model, err error) {
	m.Spec = s
	if m.Config, err = ReadConfig(s.Dir); err != nil {
		return m, err
	}
	m.Room = min(s.Room, m.Positions)
	if most := s.most(false); m.Room < 2 || s.Sequences < 1 || s.Sequences > most {
		return m, NeverError{fmt.Errorf("%d sequences of %d tokens (1 to %d of 2 tokens and more are served)",
			s.Sequences, m.Room, most)}
	}
	if m.ofEight() && m.Type != device.BF16 {
		return m, NeverError{fmt.Errorf("weights of eight bits are served beside bf16, and not beside %v", m.Type)}
	}
	if m.square() > 0 {
		m.Buckets = inEights(m.Buckets)
	}
	if m.Tensors, err = safetensors.Open(s.Dir); err != nil {
		return m, err
	}
	r, err := NewRank(m, 0)
	if err == nil {
		m.Needs = r.Needs
	}
	return m, err
}

// bounds are the longest time of a step, and the time that ranks have to end by themselves when one has failed.
func (s Spec) bounds() (step, grace time.Duration) {
	step = cmp.Or(s.Timeout, group.DefaultTimeout)
	return step, min(step, 5*time.Second)
}

// mostRows counts those of the largest bucket, rounded up for all ranks.
func (s Spec) mostRows() int { return multiple(max(s.most(false), s.most(true)), scalesAtOnce*s.Ranks) }

// most counts the rows of the largest bucket, of a prompt or not.
func (s Spec) most(prompt bool) (rows int) {
	for _, b := range s.Buckets {
		if b.Prompt == prompt {
			rows = max(rows, b.Rows)
		}
	}
	return rows
}
