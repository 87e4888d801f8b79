package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ovgen/runtime/device"
	"ovgen/runtime/safetensors"
)

// families has, by a config's model_type, what its models have of their own.
var families = map[string]family{"llama": llama, "mistral": mistral, "qwen2": qwen2, "qwen3": qwen3,
	"gemma2": gemma2, "gemma3_text": gemma3}

// family is models with layers of one kind.
type family struct {
	forms            // by weights of 16 bits
	eight   forms    // by weights of eight bits; the zero forms: they are not served
	squares forms    // by weights of eight bits with a scale for each square, likewise
	apart   bool     // queries, keys and values are three products in few; else they are one
	weights []weight // of a layer
	// windowed says that layers of a config's model may look at a window of positions alone. Where it is nil, no config
	// with a window is served.
	windowed func(c *Config) bool
	acts     string          // the MLP's activation; empty: silu
	grown    bool            // norms are by 1 + their weights, and the embedding grows by the root of its width
	lacks    func(c *Config) // sets what transformers takes for fields that a file lacks, where that is not Llama's
}

// forms are the packages of a layer.
type forms struct {
	few  func(calls) program // of rows that all ranks have
	more func(calls) program // of more than mostNarrow such rows; nil: few takes them too
	many func(calls) program // of rows that are spread over the ranks; nil: the others take them too
}

// served are the model_types, for an error.
func served() string { return strings.Join(slices.Sorted(maps.Keys(families)), ", ") }

// weight is a tensor of a layer: its name in Buffers, and in a checkpoint, behind the layer's; and a rank's part of it.
// Neighbours of one joint buffer lie in it one after the other.
type weight struct {
	buffer, tensor string
	cut            cut
	joint          string
	scales         bool // the tensor's scales
}

// part is the rank's part of the tensor, of eight bits where those of products have them.
func (w weight) part(r *Rank, layer int) safetensors.Part {
	p := w.cut(r)
	p.Name = fmt.Sprintf("model.layers.%d.%s", layer, w.tensor)
	if r.ofEight() && w.multiplies(r) {
		p.Type, p.Quantise, p.Square = device.E4M3, r.Weights == device.E4M3, r.square()
	}
	return p
}

// cut is a rank's part of a tensor.
type cut func(r *Rank) safetensors.Part

// columns is the cut of a weight's columns where another's rows are cut so.
func columns(rows cut) cut { return func(r *Rank) safetensors.Part { return rows(r).Transposed() } }

// bias is the cut of the bias of a weight whose rows are cut so.
func bias(rows cut) cut {
	return func(r *Rank) safetensors.Part {
		p := rows(r)
		p.Shape = p.Shape[:1]
		return p
	}
}

// queryRows are the rows of the query heads.
func queryRows(r *Rank) safetensors.Part {
	n := r.params.Queries * r.HeadSize
	return safetensors.Part{Shape: []int{r.Heads * r.HeadSize, r.Hidden}, From: r.rank * n, Count: n}
}

// keyRows are the rows of the heads of keys, and of values.
func keyRows(r *Rank) safetensors.Part {
	return safetensors.Part{Shape: []int{r.KeyHeads * r.HeadSize, r.Hidden}, From: r.firstKey * r.HeadSize,
		Count: r.params.Keys * r.HeadSize}
}

// gateRows are rows of the MLP's first weights.
func gateRows(r *Rank) safetensors.Part {
	return safetensors.Part{Shape: []int{r.Intermediate, r.Hidden}, From: r.rank * r.params.Width,
		Count: r.params.Width}
}

// wholeRow has a number for each element of a row, and wholeHead for each of a head.
func wholeRow(r *Rank) safetensors.Part {
	return safetensors.Part{Shape: []int{r.Hidden}, Count: r.Hidden}
}
func wholeHead(r *Rank) safetensors.Part {
	return safetensors.Part{Shape: []int{r.HeadSize}, Count: r.HeadSize}
}
