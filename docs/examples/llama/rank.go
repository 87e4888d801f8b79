package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
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
	Prefill: []int{16, 64, 256, 512, 1024, 2048},
	Decode:  []int{1, 2, 4, 8, 16, 24, 32, 48, 64}}

// Rank is one rank's part of the decoder. Its device memory lives as long as the group's device.
type Rank struct {
	Config
	Options
	Cut
	group   *group.Group
	driver  driver.Driver
	kernels *kernels.Set
	stream  *device.Stream
	heads   kernels.Heads

	embedding, norm, head device.Ptr // head: fp32
	layers                []layer
	memory                activations
	all                   []*bucket
}

// layer is the weights of one, and its part of the cache: [sequences+1, room, keys, size]. The last sequence is that
// of rows that only fill a bucket.
type layer struct {
	layerBuffers // but for A and C
	keys, values device.Ptr
}

// activations are used by all steps in turn.
type activations struct {
	input  device.Ptr    // int32: tokens, sequences, positions of each row; the wanted rows
	x      [2]device.Ptr // the residual: a layer reads one and writes the other
	parts  device.Ptr    // of attention
	last   device.Ptr    // fp32: normed rows
	zeros  device.Ptr    // fp32 [tokens of the rank]
	logits device.Ptr    // fp32 [rows, tokens of the rank]
	best   device.Ptr    // a Best each row
}

// Best is the greatest logit of a row on a rank, and its token.
type Best struct {
	Logit float32
	Token int32
}

// NewRank loads this rank's part of a checkpoint and makes the plans and graphs of all buckets. It is collective.
func NewRank(ctx context.Context, g *group.Group, c Config, t *Tensors, o Options) (*Rank, error) {
	r := &Rank{Config: c, Options: o, group: g, driver: g.Driver()}
	err := r.load(t)
	if err == nil {
		err = r.plan(ctx)
	}
	if err != nil {
		g.Abort(err) // the other ranks wait for this one
		return nil, fmt.Errorf("make the decoder: %w", err)
	}
	return r, nil
}

// Batch is the rows of one step: either rows of a prompt, which follow each other in one sequence, or one row each of
// several sequences.
type Batch struct {
	Prompt                       bool
	Tokens, Sequences, Positions []int32
}

// Add adds a row.
func (b *Batch) Add(token, sequence, position int) {
	b.Tokens = append(b.Tokens, int32(token))
	b.Sequences = append(b.Sequences, int32(sequence))
	b.Positions = append(b.Positions, int32(position))
}

// Step runs the rows through the model, and returns the likeliest of this rank's tokens behind each row, or behind the
// last row of a prompt. All ranks call it with the same rows.
func (r *Rank) Step(ctx context.Context, rows Batch) (next []Best, err error) {
	b, err := r.bucket(rows)
	if err != nil {
		return nil, err
	}
	input, answers := b.input(r, rows)
	raw, best := make([]byte, kernels.PairBytes*b.wanted), make([]Best, b.wanted)
	if err = r.driver.MemcpyHtoD(r.memory.input, little(input)); err == nil {
		err = b.graph.Launch(r.stream.Handle())
	}
	if err == nil {
		err = r.group.Watch(ctx, r.stream.Handle())
	}
	if err == nil {
		err = r.driver.MemcpyDtoH(raw, r.memory.best)
	}
	if err != nil {
		r.group.Abort(err) // the other ranks wait for this one
		return nil, fmt.Errorf("step: %w", err)
	}
	_, _ = binary.Decode(raw, binary.LittleEndian, best) // it refuses only too few bytes
	for _, at := range answers {
		next = append(next, best[at])
	}
	return next, nil
}

// bucket is the smallest that has the rows.
func (r *Rank) bucket(rows Batch) (*bucket, error) {
	n := len(rows.Tokens)
	i := slices.IndexFunc(r.all, func(b *bucket) bool { return b.prompt == rows.Prompt && b.rows >= n })
	if i < 0 || n == 0 {
		return nil, fmt.Errorf("step of %d rows: no bucket has them", n)
	}
	return r.all[i], nil
}

// little is numbers of 4 bytes as the device has them.
func little[T int32 | float32](list []T) []byte {
	out, _ := binary.Append(nil, binary.LittleEndian, list) // it refuses only types without a size
	return out
}

// Close leaves the group, which closes the plans.
func (r *Rank) Close(ctx context.Context) error {
	var errs []error
	for _, b := range r.all {
		errs = append(errs, b.graph.Close())
	}
	return errors.Join(append(errs, r.stream.Close(), r.kernels.Close(), r.group.Close(ctx))...)
}
