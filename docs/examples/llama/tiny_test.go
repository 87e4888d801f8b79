package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/safetensors"
)

// Tiny is a small model with all that a large one has: grouped heads, Llama 3's rotary embedding with waves of all
// three kinds, a vocabulary that no number of ranks divides. A byte is a token. It can be cut for 1, 2, 3 and 4 ranks.
var Tiny = Config{
	Family: "llama", Vocabulary: 259, Hidden: 96, Intermediate: 192, Layers: 2, Heads: 12, KeyHeads: 2, HeadSize: 8,
	Positions: 512, Epsilon: 1e-5, Theta: 500000,
	Scaling: &Scaling{Type: "llama3", Factor: 8, Low: 1, High: 4, Original: 64},
}

// tinies are models by model_type: Tiny, and smaller ones of other families, with an epsilon that tells. These can be
// cut for 1, 2 and 4 ranks, and four share the heads of keys.
var tinies = map[string]Config{"llama": Tiny, "mistral": tinyOf("mistral"), "qwen2": tinyOf("qwen2"),
	"qwen3": tinyOf("qwen3"), "gemma2": tinyGemma2(), "gemma3_text": tinyGemma3()}

// tinyOf is a model of a family, with heads that are wider than their share.
func tinyOf(family string) Config {
	return Config{Family: family, Vocabulary: 61, Hidden: 32, Intermediate: 64, Layers: 2, Heads: 4, KeyHeads: 2,
		HeadSize: 16, Positions: 64, Epsilon: 1e-3, Theta: 10000}
}

// tinyGemma2 has caps that most scores and logits feel, and a tied head.
func tinyGemma2() Config {
	c, scores, logits := tinyOf("gemma2"), 3.5, 2.5
	c.Tied, c.QueryScalar, c.ScoreCap, c.LogitCap = true, 24, &scores, &logits
	return c
}

// tinyGemma3 has a layer of each kind, the second one with waves that are stretched.
func tinyGemma3() Config {
	c := tinyOf("gemma3_text")
	c.Tied, c.QueryScalar, c.Theta, c.LocalTheta, c.Pattern = true, 24, 1e6, 300, 2
	c.Scaling = &Scaling{Type: "linear", Factor: 2.5}
	return c
}

var (
	tinyFolder = flag.String("tiny", "", "write a tiny model to this folder, for TestTiny")
	tinyFamily = flag.String("family", "llama", "its model_type")
)

// TestTiny writes a tiny model, as a server and golden.py take it.
func TestTiny(t *testing.T) {
	if *tinyFolder == "" {
		t.Skip("-tiny is not set")
	}
	if err := WriteCheckpoint(*tinyFolder, tinies[*tinyFamily], Random(tinies[*tinyFamily], seed)); err != nil {
		t.Fatal(err)
	}
}

// tensors are the shapes of a model's weights, by name.
func (c Config) tensors() map[string][]int {
	h, q, k := c.Hidden, c.Heads*c.HeadSize, c.KeyHeads*c.HeadSize
	all := map[string][]int{"model.embed_tokens.weight": {c.Vocabulary, h}, "model.norm.weight": {h}}
	if !c.Tied {
		all["lm_head.weight"] = []int{c.Vocabulary, h}
	}
	for i := range c.Layers {
		at := fmt.Sprintf("model.layers.%d.", i)
		for name, shape := range map[string][]int{
			"input_layernorm": {h}, "self_attn.q_proj": {q, h}, "self_attn.k_proj": {k, h}, "self_attn.v_proj": {k, h},
			"self_attn.o_proj": {h, q}, "post_attention_layernorm": {h}, "mlp.gate_proj": {c.Intermediate, h},
			"mlp.up_proj": {c.Intermediate, h}, "mlp.down_proj": {h, c.Intermediate},
		} {
			all[at+name+".weight"] = shape
		}
		for name, n := range c.more() {
			all[at+name] = []int{n}
		}
	}
	return all
}

// more are the widths of a layer's further tensors.
func (c Config) more() map[string]int {
	biases := map[string]int{"self_attn.q_proj.bias": c.Heads * c.HeadSize,
		"self_attn.k_proj.bias": c.KeyHeads * c.HeadSize, "self_attn.v_proj.bias": c.KeyHeads * c.HeadSize}
	heads := map[string]int{"self_attn.q_norm.weight": c.HeadSize, "self_attn.k_norm.weight": c.HeadSize}
	rows := map[string]int{"pre_feedforward_layernorm.weight": c.Hidden,
		"post_feedforward_layernorm.weight": c.Hidden}
	all := map[string]int{}
	for _, some := range map[string][]map[string]int{
		"qwen2": {biases}, "qwen3": {heads}, "gemma2": {rows}, "gemma3_text": {rows, heads},
	}[c.Family] {
		maps.Copy(all, some)
	}
	return all
}

// Array is a tensor in host memory. Less data than the shape asks for is repeated.
type Array struct {
	Shape []int
	Data  []float32 // values that bf16 has
	Type  string    // in a checkpoint; empty: the type of the others
}

// size counts the elements.
func (a Array) size() int64 {
	n := int64(1)
	for _, x := range a.Shape {
		n *= int64(x)
	}
	return n
}

// Random makes the weights of a model by a seed: of norms around 1, of others around 0.
func Random(c Config, seed uint64) map[string]Array {
	all, shapes := map[string]Array{}, c.tensors()
	source := rand.New(rand.NewPCG(seed, 0))
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		a := Array{Shape: shapes[name]}
		for range a.size() {
			x := .2 * source.NormFloat64()
			if len(a.Shape) == 1 && !strings.HasSuffix(name, ".bias") {
				x = 1 + x/2
			}
			a.Data = append(a.Data, math.Float32frombits(uint32(rounded(float32(x)))<<16))
		}
		all[name] = a
	}
	return all
}

// WriteCheckpoint writes config.json and model.safetensors, in bf16, to a folder.
func WriteCheckpoint(dir string, c Config, weights map[string]Array) error {
	config, err := json.MarshalIndent(struct {
		Activation string `json:"hidden_act"`
		Config
	}{cmp.Or(families[c.Family].acts, "silu"), c}, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), config, 0o644)
	}
	if err == nil {
		err = writeTensors(filepath.Join(dir, "model.safetensors"), "BF16", weights)
	}
	if err != nil {
		return fmt.Errorf("write a checkpoint: %w", err)
	}
	return nil
}

// encoders append a number in a type that has it, by the format's names of types.
var encoders = map[string]func(to []byte, x float32) []byte{
	"BF16": func(to []byte, x float32) []byte { return binary.LittleEndian.AppendUint16(to, rounded(x)) },
	"F32": func(to []byte, x float32) []byte {
		return binary.LittleEndian.AppendUint32(to, math.Float32bits(x))
	},
	"F16": func(to []byte, x float32) []byte {
		b := math.Float32bits(x)
		if x != 0 {
			b = b>>16&0x8000 | (b&0x7fffffff-112<<23)>>13
		}
		return binary.LittleEndian.AppendUint16(to, uint16(b))
	},
	"F8_E4M3": func(to []byte, x float32) []byte { return append(to, nearestCode(float64(x))) },
}

// writeTensors writes a checkpoint's file in a type.
func writeTensors(path, typ string, weights map[string]Array) error {
	encode := func(a Array, to []byte, x float32) []byte { return encoders[cmp.Or(a.Type, typ)](to, x) }
	size := func(a Array) int64 { return a.size() * int64(len(encode(a, nil, 0))) }
	header, end, names := map[string]any{}, int64(0), slices.Sorted(maps.Keys(weights))
	header["__metadata__"] = map[string]string{"format": "pt"}
	for _, name := range names {
		start := end
		end += size(weights[name])
		header[name] = safetensors.Tensor{Type: cmp.Or(weights[name].Type, typ),
			Shape: weights[name].Shape, Range: [2]int64{start, end}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f) // it keeps its first error for Flush
	_, _ = w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...))
	for _, name := range names {
		var data []byte
		for _, x := range weights[name].Data {
			data = encode(weights[name], data, x)
		}
		for left := size(weights[name]); left > 0; left -= int64(len(data)) {
			_, _ = w.Write(data[:min(left, int64(len(data)))])
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// rounded is the nearest bf16, the even one of two.
func rounded(x float32) uint16 {
	b := math.Float32bits(x)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
