package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Tiny is a small model with all that a large one has: grouped heads, Llama 3's rotary embedding with waves of all
// three kinds, a vocabulary that no number of ranks divides. A byte is a token. It can be cut for 1, 2, 3 and 4 ranks.
var Tiny = Config{
	Vocabulary: 259, Hidden: 96, Intermediate: 192, Layers: 2, Heads: 12, KeyHeads: 2, HeadSize: 8, Positions: 512,
	Epsilon: 1e-5, Theta: 500000, Scaling: &Scaling{Type: "llama3", Factor: 8, Low: 1, High: 4, Original: 64},
}

// Array is a tensor in host memory.
type Array struct {
	Shape []int
	Data  []float32 // values that bf16 has
}

// Random makes the weights of a model by a seed: of norms around 1, of others around 0.
func Random(c Config, seed uint64) map[string]Array {
	all, shapes := map[string]Array{}, c.tensors()
	source := rand.New(rand.NewPCG(seed, 0))
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		shape, n := shapes[name], 1
		for _, x := range shape {
			n *= x
		}
		data := make([]float32, n)
		for i := range data {
			x := .2 * source.NormFloat64()
			if len(shape) == 1 {
				x = 1 + x/2
			}
			data[i] = math.Float32frombits(uint32(rounded(float32(x))) << 16)
		}
		all[name] = Array{shape, data}
	}
	return all
}

// WriteCheckpoint writes config.json and model.safetensors, in bf16, to a folder.
func WriteCheckpoint(dir string, c Config, weights map[string]Array) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write a checkpoint: %w", err)
		}
	}()
	config, err := json.MarshalIndent(struct {
		Type       string `json:"model_type"`
		Activation string `json:"hidden_act"`
		Config
	}{"llama", "silu", c}, "", "  ")
	if err != nil {
		return err
	}
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		start := len(data)
		for _, x := range weights[name].Data {
			data = binary.LittleEndian.AppendUint16(data, rounded(x))
		}
		header[name] = stored{Type: "BF16", Shape: weights[name].Shape, Range: [2]int64{int64(start), int64(len(data))}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	file = append(append(file, text...), data...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), config, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "model.safetensors"), file, 0o644)
}
