package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"ovgen/runtime/device"
)

// TestOnGPUs decodes on up to as many GPUs as OVGEN_EXAMPLE_GPUS says. It compares logits on one GPU, where no process
// but this one has them, and says how many tokens in bf16 are the reference's.
func TestOnGPUs(t *testing.T) {
	most, err := strconv.Atoi(os.Getenv("OVGEN_EXAMPLE_GPUS"))
	if err != nil {
		t.Skip("OVGEN_EXAMPLE_GPUS is not set")
	}
	t.Setenv("OVGEN_DRIVER", "cuda")
	start := func(ctx context.Context, s Spec) (Crew, error) { return s.start(ctx, s.Ranks > 1) }
	var ranks []int
	for n := range most {
		ranks = append(ranks, n+1)
	}
	for _, d := range append(decodings(), long) {
		d.hold(t, device.FP32, ranks, exact, start)
		d.hold(t, device.BF16, ranks, bounds{most: .5, row: .5, all: .05}, start)
	}
}

// large has the sizes of an 8B model, but for its layers.
var large = Config{Vocabulary: 128256, Hidden: 4096, Intermediate: 14336, Layers: 4, Heads: 32, KeyHeads: 8,
	HeadSize: 128, Positions: 8192, Epsilon: 1e-5, Theta: 500000}

// TestSpeed says what steps take on so many GPUs as OVGEN_EXAMPLE_SPEED says, a process each, with a model of random
// weights, which it writes to a folder of its own.
func TestSpeed(t *testing.T) {
	ranks, err := strconv.Atoi(os.Getenv("OVGEN_EXAMPLE_SPEED"))
	if err != nil {
		t.Skip("OVGEN_EXAMPLE_SPEED is not set")
	}
	dir := t.TempDir()
	writeRandom(t, dir, large)
	o := Usual
	o.Decode, o.Prefill = []int{1, 16, 64}, []int{128, 2048}
	began := time.Now()
	crew, err := StartProcesses(t.Context(), Spec{dir, ranks, o})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d layers on %d ranks, %v: ready in %v", large.Layers, ranks, o.Type, time.Since(began))
	times := func(what string, rows int, b Batch) {
		var took []time.Duration
		for range 30 {
			began := time.Now()
			step(t, crew, b)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		t.Logf("%s: median %v, least %v, %.0f tokens/s", what, took[15], took[0], float64(rows)/took[15].Seconds())
	}
	for _, n := range o.Prefill {
		b := Batch{Prompt: true}
		for p := range n {
			b.Add(p, 0, p)
		}
		times(fmt.Sprint("prompt of ", n), n, b)
	}
	for _, n := range o.Decode {
		for _, position := range []int{15, 2047} {
			var b Batch
			for s := range n {
				b.Add(s, s, position)
			}
			times(fmt.Sprint("decode ", n, " at position ", position), n, b)
		}
	}
	if err := crew.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// writeRandom writes a checkpoint of which every tensor repeats the same random numbers.
func writeRandom(t *testing.T, dir string, c Config) {
	if err := WriteCheckpoint(dir, c, nil); err != nil {
		t.Fatal(err)
	}
	source, block := rand.New(rand.NewPCG(seed, 2)), make([]byte, 1<<20)
	for i := 0; i < len(block); i += 2 {
		binary.LittleEndian.PutUint16(block[i:], rounded(float32(.02*source.NormFloat64())))
	}
	header, end := map[string]stored{}, int64(0)
	for name, shape := range c.tensors() {
		bytes := int64(2)
		for _, x := range shape {
			bytes *= int64(x)
		}
		header[name] = stored{Type: "BF16", Shape: shape, Range: [2]int64{end, end + bytes}}
		end += bytes
	}
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...))
	for at := int64(0); at < end && err == nil; at += int64(len(block)) {
		_, err = f.Write(block[:min(int64(len(block)), end-at)])
	}
	if err != nil {
		t.Fatal(err)
	}
}
