package main

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/device"
	"ovgen/verify/sampling"
)

// wide is a model whose weights two ranks can cut into squares of 128 x 128.
func wide(family string, layers int) Config {
	return Config{Family: family, Vocabulary: 61, Hidden: 512, Intermediate: 1024, Layers: layers, Heads: 8,
		KeyHeads: 2, HeadSize: 128, Positions: 64, Epsilon: 1e-3, Theta: 10000, Tied: true,
		Quantised: &Quantised{Method: "fp8", Numbers: "e4m3", Scheme: "dynamic", Block: []int{128, 128}}}
}

// inSquares are a model's random weights with those of products in e4m3, with a scale for each square of 128 x 128, as
// a checkpoint has them, and the same dequantised. Neighbours differ much in size, so that a square with another one's
// scale shows.
func inSquares(c Config) (stored, of map[string]Array) {
	stored = Random(c, seed)
	of = maps.Clone(stored)
	for name, w := range stored {
		if !strings.HasSuffix(name, "proj.weight") {
			continue
		}
		width := w.Shape[1]
		scales := Array{Shape: []int{w.Shape[0] / 128, width / 128}, Type: "F32"}
		codes, values := Array{w.Shape, make([]float32, len(w.Data)), "F8_E4M3"},
			Array{w.Shape, make([]float32, len(w.Data)), ""}
		for square := range int(scales.size()) {
			top, left := square/scales.Shape[1]*128, square%scales.Shape[1]*128
			each := func(f func(i int)) {
				for at := range 128 * 128 {
					f((top+at/128)*width + left + at%128)
				}
			}
			most, size := float32(0), []float32{.5, 2, .125, .25}[(square+top/128)%4]
			each(func(i int) { most = max(most, size*w.Data[i], -size*w.Data[i]) })
			scales.Data = append(scales.Data, most/448)
			each(func(i int) {
				codes.Data[i] = float32(codeValue(nearestCode(float64(size * w.Data[i] / (most / 448)))))
				values.Data[i] = codes.Data[i] * (most / 448)
			})
		}
		stored[name], stored[name+"_scale_inv"], of[name] = codes, scales, values
	}
	return stored, of
}

// TestSquares decodes by weights of eight bits with a scale for each square of them, and rows with one for each 128
// columns. Logits are near those of a reference that rounds rows so, as TestEightRows says. Models of other
// families are decoded where OVGEN_SOAK is set.
func TestSquares(t *testing.T) {
	sampling.Test(t, 3, 4)
	squares(t, wide("llama", 2), inTurn(0, 2, 1)...)
	if sampling.All() {
		squares(t, wide("qwen2", 1), 2)
		squares(t, wide("qwen3", 1), 2)
	}
}

// squares decodes by a checkpoint with scales of squares on so many ranks.
func squares(t *testing.T, c Config, ranks ...int) {
	t.Run(c.Family, func(t *testing.T) {
		dir := t.TempDir()
		stored, of := inSquares(c)
		if err := WriteCheckpoint(dir, c, stored); err != nil {
			t.Fatal(err)
		}
		d := decoding{c: c, prompts: []int{11, 3}, n: 2, most: 8, s: small}
		d.s.Type, d.s.Room = device.BF16, 32
		d.s.Buckets = []Bucket{{Rows: 1}, {Rows: 3}, {Rows: 4, Prompt: true}, {16, true, true}}
		tokens, logits, apart := d.rounded(t, of, 1, 128)
		t.Logf("rows of eight bits move logits by %g", apart)
		apart *= math.Sqrt2
		for _, n := range ranks {
			d.on(t, n, dir, tokens, logits, bounds{rough.most + 6*apart, rough.row + 2*apart, rough.all + apart})
		}
	})
}

// TestSquaresRefused has checkpoints with scales of squares that are not served.
func TestSquaresRefused(t *testing.T) {
	const name = "model.layers.0.mlp.down_proj.weight"
	plain := wide("llama", 1)
	plain.Quantised = &Quantised{Method: "fp8"}
	halves := wide("llama", 1)
	halves.Heads, halves.HeadSize = 16, 64
	for what, x := range map[string]struct {
		c      Config
		ranks  int
		change func(w map[string]Array)
		want   string
		never  bool
	}{
		"no family": {c: wide("gemma2", 1), want: "weights of eight bits with scales of blocks are not served for " +
			"model_type gemma2", never: true},
		"too many ranks": {c: wide("llama", 1), ranks: 4, want: "cut the model for 4 ranks, with hidden_size as K, " +
			"num_attention_heads times head_dim as N, and intermediate_size as F: N is 1024: it must be a multiple " +
			"of 512 times the ranks, 2048 (the nearest is 2048)", never: true},
		"half a square": {c: halves, ranks: 2, want: "k_proj.weight: 64 rows from 0 on are no whole squares of 128"},
		"scales of blocks": {c: plain,
			want: "_scale_inv: it has scales of blocks, and scales of rows or one are wanted"},
		"no scales": {c: wide("llama", 1), change: func(w map[string]Array) { delete(w, name+"_scale_inv") },
			want: "tensor " + name + "_scale_inv: it is not in the checkpoint"},
		"scales of another shape": {c: wide("llama", 1), change: func(w map[string]Array) {
			w[name+"_scale_inv"] = Array{[]int{4, 4}, []float32{1}, "F32"}
		}, want: "_scale_inv: its shape is [4 4], and [4 8] is wanted"},
		"a weight of 16 bits": {c: wide("llama", 1), change: func(w map[string]Array) {
			w[name] = Array{w[name].Shape, []float32{1}, "BF16"}
		}, want: name + ": its type is BF16, and F8_E4M3 is wanted"},
		"no number": {c: wide("llama", 1), change: func(w map[string]Array) {
			nan := slices.Repeat([]float32{1}, 32)
			nan[13] = float32(math.NaN())
			w[name+"_scale_inv"] = Array{[]int{4, 8}, nan, "BF16"}
		}, want: "_scale_inv: the scale of square 1, 5 is NaN (a scale is a number, 0 or above)"},
	} {
		dir, stored := t.TempDir(), map[string]Array{}
		for of, shape := range x.c.tensors() {
			if stored[of] = (Array{Shape: shape, Data: []float32{1}}); strings.HasSuffix(of, "proj.weight") {
				stored[of] = Array{shape, []float32{1}, "F8_E4M3"}
				stored[of+"_scale_inv"] = Array{[]int{shape[0] / 128, shape[1] / 128}, []float32{1}, "F32"}
			}
		}
		if x.change != nil {
			x.change(stored)
		}
		if err := WriteCheckpoint(dir, x.c, stored); err != nil {
			t.Fatal(err)
		}
		s := small.in(dir)
		s.Type, s.Ranks, s.Buckets = device.BF16, max(x.ranks, 1), whole(s.Buckets)
		crew, err := s.Start(t.Context())
		if err == nil {
			err = crew.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), x.want) || errors.As(err, new(NeverError)) != x.never {
			t.Errorf("%s: %v, want %q", what, err, x.want)
		}
	}
}
