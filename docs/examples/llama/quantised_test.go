package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/device"
	"ovgen/verify/sampling"
)

// codeValue is the number of a code of e4m3 by its definition; nearestCode looks through all for the nearest one, of
// two the even one.
func codeValue(code byte) float64 {
	exponent, digits := int(code>>3&15), float64(code&7)
	x := math.Ldexp(8+digits, exponent-10)
	if exponent == 0 {
		x = math.Ldexp(digits, -9)
	}
	if code>>7 == 1 {
		return -x
	}
	return x
}

// positive are the numbers of the codes without a sign.
var positive = func() (all [0x7f]float64) {
	for code := range all {
		all[code] = codeValue(byte(code))
	}
	return all
}()

func nearestCode(x float64) (best byte) {
	sign := byte(0)
	if math.Signbit(x) {
		sign, x = 0x80, -x
	}
	least := x
	for code := 1; code < len(positive); code++ {
		if far := math.Abs(positive[code] - x); far < least || far == least && code%2 == 0 {
			best, least = byte(code), far
		}
	}
	return sign | best
}

// quantised are a model's weights with those of products in e4m3, each with scales of such a shape, and the same
// dequantised.
func quantised(weights map[string]Array, shape func(rows int) []int) (stored, of map[string]Array) {
	stored, of = maps.Clone(weights), maps.Clone(weights)
	for name, w := range weights {
		if !strings.Contains(name, "proj.weight") {
			continue
		}
		scales := Array{Shape: shape(w.Shape[0]), Type: "F32"}
		each := len(w.Data) / int(scales.size())
		codes, values := Array{w.Shape, nil, "F8_E4M3"}, Array{Shape: w.Shape}
		for row := range slices.Chunk(w.Data, each) {
			most := float32(0)
			for _, x := range row {
				most = max(most, x, -x)
			}
			scales.Data = append(scales.Data, most/448)
			for _, x := range row {
				code := codeValue(nearestCode(float64(x / (most / 448))))
				codes.Data = append(codes.Data, float32(code))
				values.Data = append(values.Data, float32(code)*(most/448))
			}
		}
		stored[name], stored[name+"_scale"], of[name] = codes, scales, values
	}
	return stored, of
}

// Shapes of scales: of rows, as two kinds of files have them, and one.
func ofRows(n int) []int    { return []int{n, 1} }
func ofRowsToo(n int) []int { return []int{n} }
func oneScale(int) []int    { return []int{} }

// byRows is a model's random weights with rows of other sizes, so that a row with its neighbour's scale shows.
func byRows(c Config) map[string]Array {
	weights := Random(c, seed)
	for name, w := range weights {
		if !strings.Contains(name, "proj.weight") {
			continue
		}
		each := w.Shape[1]
		for i := range w.Data {
			w.Data[i] *= []float32{1, .25, 2}[i/each%3]
		}
	}
	return weights
}

// dynamic is a config as vLLM's compressor writes it, and plain as others do.
var (
	dynamic = &Quantised{Method: "compressed-tensors", Format: "float-quantized", Groups: map[string]Grouped{
		"group_0": {&Numbers{8, "float", "channel", false}, &Numbers{8, "float", "token", true}}}}
	plain = &Quantised{Method: "fp8", Scheme: "dynamic"}
)

// TestEight decodes by weights alone of eight bits: logits are near those of the dequantised weights.
func TestEight(t *testing.T) {
	sampling.Test(t, 1, 4)
	eights(t, 4)
}

// eights is TestEight for so many ranks at most.
func eights(t *testing.T, most int) {
	before := mostNarrow
	defer func() { mostNarrow = before }()
	for i, x := range []struct {
		name   string
		c      Config
		as     *Quantised
		shape  func(int) []int
		ranks  []int
		prompt []int
	}{
		{"scales of rows", other, dynamic, ofRows, []int{3, 2, 1, 4}, []int{21, 5}},
		{"one scale", other, plain, oneScale, []int{2}, []int{21}},
		{"Qwen2", tinies["qwen2"], dynamic, ofRowsToo, []int{2, 4}, []int{21, 5}},
		{"Qwen3", tinies["qwen3"], plain, ofRows, []int{2}, []int{21, 5}},
		{"Gemma 2", tinies["gemma2"], plain, ofRows, []int{2, 4}, []int{21, 5}},
		{"Gemma 3", tinies["gemma3_text"], dynamic, ofRowsToo, []int{2}, []int{21, 5}},
	} {
		if len(inTurn(i, 1, 2)) == 1 && strings.HasPrefix(x.name, "Qwen") {
			continue // TestEightRows has its model
		}
		if mostNarrow = math.MaxInt; families[x.c.Family].eight.more == nil {
			mostNarrow = 0 // their rows never have eight bits
		}
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			stored, of := quantised(byRows(x.c), x.shape)
			x.c.Quantised = x.as
			if err := WriteCheckpoint(dir, x.c, stored); err != nil {
				t.Fatal(err)
			}
			d := decoding{c: x.c, prompts: x.prompt, n: 3, most: 16, s: small}
			d.s.Type, d.s.Buckets = device.BF16, whole(small.Buckets)
			d.holdIn(t, dir, of, inTurn(i, upTo(t, most, x.ranks)...), rough)
		})
	}
}

// TestQuantisedAsRead reads a model of 16 bits as one of eight: its logits are those of the checkpoint that has the
// same codes and scales, to the bit.
func TestQuantisedAsRead(t *testing.T) {
	weights := byRows(other)
	wide, eight := t.TempDir(), t.TempDir()
	stored, _ := quantised(weights, ofRows)
	c := other
	c.Quantised = dynamic
	if err := errors.Join(WriteCheckpoint(wide, other, weights), WriteCheckpoint(eight, c, stored)); err != nil {
		t.Fatal(err)
	}
	var all [][]float64
	for dir, typ := range map[string]device.Type{wide: device.E4M3, eight: 0} {
		s := small
		s.Type, s.Weights = device.BF16, typ
		crew, err := s.in(dir).Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		(&sequence{prompt: prompt(9, seed)}).read(t, crew, 16)
		all = append(all, crew.logits(t, 0))
		if err := crew.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(all[0], all[1]) {
		t.Errorf("read as e4m3: %v, stored so: %v", all[0][:8], all[1][:8])
	}
}

// TestQuantisedRefused has configs of eight bits that are not served.
func TestQuantisedRefused(t *testing.T) {
	const group = `{"quant_method": "compressed-tensors", "format": "float-quantized", "config_groups": {"g": `
	for _, x := range []struct{ text, want string }{
		{`{"quant_method": "gptq"}`,
			"quantization_config.quant_method is gptq (it must be compressed-tensors or fp8)"},
		{`{"quant_method": "fp8", "activation_scheme": "static"}`, "activation_scheme is static (it must be dynamic)"},
		{`{"quant_method": "fp8", "weight_block_size": [64, 128]}`,
			"weight_block_size is [64 128] (it must be null or [128, 128])"},
		{`{"quant_method": "fp8", "fmt": "e5m2"}`, "quantization_config.fmt is e5m2 (it must be e4m3)"},
		{`{"quant_method": "compressed-tensors", "format": "pack-quantized"}`,
			"quantization_config.format is pack-quantized (it must be float-quantized)"},
		{group + `{"weights": {"num_bits": 4, "type": "float", "strategy": "channel"}}}}`,
			"weights.num_bits is 4 (it must be 8)"},
		{group + `{"weights": {"num_bits": 8, "type": "int", "strategy": "channel"}}}}`,
			"weights.type is int (it must be float)"},
		{group + `{"weights": {"num_bits": 8, "type": "float", "strategy": "block"}}}}`,
			"weights.strategy is block (it must be channel or tensor)"},
		{group + `{"weights": {"num_bits": 8, "type": "float", "strategy": "tensor"}, "input_activations": ` +
			`{"num_bits": 8, "type": "float", "strategy": "tensor", "dynamic": false}}}}`,
			"input_activations.dynamic is false (it must be true)"},
		{group + `{"weights": {"num_bits": 8, "type": "float", "strategy": "tensor"}}}, "kv_cache_scheme": {}}`,
			"kv_cache_scheme is map[] (it must be null)"},
	} {
		_, err := ReadConfig(changed(t, "quantization_config", x.text))
		if !errors.As(err, new(NeverError)) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.text, err, x.want)
		}
	}
}

// TestQuantisedWeightsRefused has checkpoints of eight bits that are not served.
func TestQuantisedWeightsRefused(t *testing.T) {
	const name = "model.layers.1.mlp.down_proj.weight"
	for what, x := range map[string]struct {
		change func(w map[string]Array)
		want   string
	}{
		"no scale": {func(w map[string]Array) { delete(w, name+"_scale") },
			"tensor " + name + "_scale: it is not in the checkpoint, and " + name + " is F8_E4M3"},
		"scales of another shape": {func(w map[string]Array) {
			w[name+"_scale"] = Array{[]int{48}, []float32{1}, "F32"}
		}, "_scale: its shape is [48], and [96], [96 1] or one number is wanted"},
		"scales of blocks": {func(w map[string]Array) {
			delete(w, name+"_scale")
			w[name+"_scale_inv"] = Array{[]int{1, 2}, []float32{1}, "F32"}
		}, "_scale_inv: it has scales of blocks, and scales of rows or one are wanted"},
		"a weight of 16 bits": {func(w map[string]Array) { w[name] = Array{w[name].Shape, []float32{1}, "BF16"} },
			name + ": its type is BF16, and F8_E4M3 is wanted"},
		"no number": {func(w map[string]Array) {
			nan := slices.Clone(w[name+"_scale"].Data)
			nan[7] = float32(math.NaN())
			w[name+"_scale"] = Array{[]int{96}, nan, "F32"}
		}, "_scale: the scale of row 7 is NaN (a scale is a number, 0 or above)"},
	} {
		dir, c := t.TempDir(), other
		stored, _ := quantised(byRows(c), ofRows)
		x.change(stored)
		c.Quantised = dynamic
		if err := WriteCheckpoint(dir, c, stored); err != nil {
			t.Fatal(err)
		}
		s := small.in(dir)
		s.Type = device.BF16
		crew, err := s.Start(t.Context())
		if err == nil {
			err = crew.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", what, err, x.want)
		}
	}
	s := small.in(filepath.Join(t.TempDir(), fmt.Sprint(os.Getpid())))
	s.Weights = device.E4M3
	if err := WriteCheckpoint(s.Dir, other, Random(other, seed)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(); !errors.As(err, new(NeverError)) || !strings.Contains(err.Error(), "beside fp32") {
		t.Errorf("beside fp32: %v", err)
	}
}

// TestEightRows decodes by rows of eight bits: of steps that decode, of prompts that every rank has, and of prompts
// that are spread over the ranks. Logits are near those of a reference that rounds rows as the schedules do.
//
// A number that lies between two codes may get the other one than the reference's, as it is off in bf16, and what comes
// behind it differs. So at worst codes are rounded as if the device's and the reference's had nothing in common: each
// is as far from the reference that rounds none as the other, and from each other by the root of two of that, beside
// what bf16 is off.
func TestEightRows(t *testing.T) { eightRows(t, 3) }

// eightRows is TestEightRows for so many ranks at most.
func eightRows(t *testing.T, most int) {
	s, before := small, mostNarrow
	s.Type, mostNarrow = device.BF16, 0
	defer func() { mostNarrow = before }()
	for i, x := range []struct {
		name  string
		c     Config
		ranks []int
	}{
		{"Llama", other, []int{3, 2, 1}},
		{"Qwen2", tinies["qwen2"], []int{2}},
		{"Qwen3", tinies["qwen3"], []int{2}},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			stored, of := quantised(byRows(x.c), ofRows)
			x.c.Quantised = dynamic
			if err := WriteCheckpoint(dir, x.c, stored); err != nil {
				t.Fatal(err)
			}
			d := decoding{c: x.c, prompts: []int{21, 5}, n: 3, most: 16, s: s}
			for _, n := range inTurn(i, upTo(t, most, x.ranks)...) {
				tokens, logits, apart := d.rounded(t, of, n, 0)
				t.Logf("rows of eight bits move logits by %g", apart)
				apart *= math.Sqrt2
				d.on(t, n, dir, tokens, logits,
					bounds{rough.most + 6*apart, rough.row + 2*apart, rough.all + apart})
			}
		})
	}
}

// upTo are those of some numbers of ranks that there are devices for; a test of none is skipped.
func upTo(t *testing.T, most int, ranks []int) []int {
	t.Helper()
	list := slices.DeleteFunc(slices.Clone(ranks), func(n int) bool { return n > most })
	if len(list) == 0 {
		t.Skipf("it is for %v ranks, and there are %d", ranks, most)
	}
	return list
}

// rounded returns the tokens and logits of a reference that rounds rows to eight bits as so many ranks do, by blocks of
// that many columns or whole. apart is the distance of its logits from a reference that rounds nothing: the root mean
// square, in standard deviations.
func (d decoding) rounded(t *testing.T, w map[string]Array, ranks, block int) (tokens [][]int, logits [][][]float64,
	apart float64) {
	squares := 0.0
	for i := range d.prompts {
		m, plain := newReference(d.c, w), newReference(d.c, w)
		m.parts, m.block = ranks, block
		made, l := m.greedy(t, d.prompt(i), d.n)
		tokens, logits = append(tokens, made), append(logits, l)
		first := len(d.prompt(i)) - 1
		for at, token := range append(d.prompt(i), made...) {
			if x := plain.next(token); at >= first {
				squares += near(t, x, l[at-first], bounds{math.Inf(1), 1, 1})
			}
		}
	}
	return tokens, logits, math.Sqrt(squares / float64(len(d.prompts)*(d.n+1)))
}
