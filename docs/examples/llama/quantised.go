package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ovgen/runtime/device"
)

// Quantised is config.json's quantization_config: how the weights of a checkpoint's layers have eight bits. Served are
// e4m3 with a scale for each row of a weight, or one, or one for each square of 128 x 128. What a file says of
// activations, whose scales are found as they are made, changes nothing: mostNarrow says which of them have eight bits.
type Quantised struct {
	Method  string             `json:"quant_method"`
	Format  string             `json:"format,omitempty"`            // of compressed-tensors
	Groups  map[string]Grouped `json:"config_groups,omitempty"`     // of layers, which are quantised alike
	Cache   any                `json:"kv_cache_scheme,omitempty"`   // scales of keys and values
	Numbers string             `json:"fmt,omitempty"`               // of fp8
	Scheme  string             `json:"activation_scheme,omitempty"` // of fp8
	Block   []int              `json:"weight_block_size,omitempty"` // of fp8: rows and columns of a square
}

// Grouped is how a group's weights and activations are quantised; nil: they are not.
type Grouped struct {
	Weights     *Numbers `json:"weights"`
	Activations *Numbers `json:"input_activations"`
}

// Numbers are a kind of number, and which of them have a scale.
type Numbers struct {
	Bits     int    `json:"num_bits"`
	Type     string `json:"type"`
	Strategy string `json:"strategy"`
	Dynamic  any    `json:"dynamic"` // scales of activations are found as they are made
}

// check names the fields whose values are not served.
func (q *Quantised) check() (err error) {
	must := func(good bool, field string, value any, what string) {
		if !good {
			err = errors.Join(err, fmt.Errorf("quantization_config.%s is %v (it must %s)", field, value, what))
		}
	}
	const scales = "be channel or tensor"
	switch q.Method {
	case "compressed-tensors":
		must(q.Format == "float-quantized", "format", q.Format, "be float-quantized")
		must(q.Cache == nil, "kv_cache_scheme", q.Cache, "be null")
		must(len(q.Groups) > 0, "config_groups", q.Groups, "have a group")
		for name, g := range q.Groups {
			at := "config_groups." + name + "."
			if g.Weights == nil {
				must(false, at+"weights", nil, "have num_bits, type and strategy")
				continue
			}
			must(g.Weights.Bits == 8, at+"weights.num_bits", g.Weights.Bits, "be 8")
			must(g.Weights.Type == "float", at+"weights.type", g.Weights.Type, "be float")
			must(slices.Contains([]string{"channel", "tensor"}, g.Weights.Strategy), at+"weights.strategy",
				g.Weights.Strategy, scales)
			if a := g.Activations; a != nil {
				must(a.Dynamic == true, at+"input_activations.dynamic", a.Dynamic, "be true")
			}
		}
	case "fp8":
		must(q.Numbers == "" || q.Numbers == "e4m3", "fmt", q.Numbers, "be e4m3")
		must(q.Scheme == "" || q.Scheme == "dynamic", "activation_scheme", q.Scheme, "be dynamic")
		must(q.Block == nil || slices.Equal(q.Block, []int{square, square}), "weight_block_size", q.Block,
			fmt.Sprintf("be null or [%d, %[1]d]", square))
	default:
		must(false, "quant_method", q.Method, "be compressed-tensors or fp8")
	}
	return err
}

// ofEight says that the weights of layers have eight bits: the checkpoint's, or as they are read.
func (m *Model) ofEight() bool { return m.Quantised != nil || m.Weights == device.E4M3 }

// square is the rows of a weight's square that has one scale, and the columns.
const square = 128

// square is that of the model's weights; 0: each row has a scale.
func (m *Model) square() int {
	if m.Quantised == nil || m.Quantised.Block == nil {
		return 0
	}
	return square
}

// inEights are buckets of whole eights of rows, as products by scales of squares want them.
func inEights(list []Bucket) (made []Bucket) {
	for _, b := range list {
		b.Rows = multiple(b.Rows, 8)
		made = append(made, b)
	}
	return slices.Compact(made)
}

// formsOf are a family's packages by the model's weights. An error says that it has none.
func (m *Model) formsOf(f family) (forms, error) {
	made, what := f.forms, "16 bits"
	switch {
	case m.square() > 0:
		made, what = f.squares, "eight bits with scales of blocks"
	case m.ofEight():
		made, what = f.eight, "eight bits"
	}
	if made.few == nil {
		return made, NeverError{fmt.Errorf("weights of %s are not served for model_type %s", what, m.Family)}
	}
	return made, nil
}

// inEight are the weights of a layer where those of products have eight bits, and behind all the scales of these.
func (r *Rank) inEight(list []weight) []weight {
	var scales []weight
	for _, w := range list {
		if !w.multiplies(r) {
			continue
		}
		w.scales, w.buffer = true, "Scale"+w.buffer
		if w.joint != "" {
			w.joint = "Scale" + w.joint
		}
		scales = append(scales, w)
	}
	return slices.Concat(list, scales)
}

// multiplies says that a weight is a product's: it has rows and columns.
func (w weight) multiplies(r *Rank) bool { return len(w.cut(r).Shape) == 2 }

// mostNarrow is the most rows of a step whose products have weights alone of eight bits, by a kernel of the packages.
// Rows of larger steps get eight bits too, for the library: of 4 layers of 8B's sizes on one H200 a step takes .56 ms
// by weights alone and .65 so for 1 row, .58 and .68 for 8, .68 and .70 for 16, .78 and .69 for 24
// (docs/results/2026-11-30-eight-llama-1.txt). So few rows stay as exact as in bf16.
var mostNarrow = 16

// scaled says that what the products of a bucket of rows that all ranks have read has eight bits. Rows of blocks always
// have: no kernel multiplies rows of 16 bits by a weight of squares. Families without layers of more rows have none.
func (r *Rank) scaled(b Bucket) bool {
	return r.ofEight() && !b.Spread && (r.square() > 0 || r.family.more != nil && b.Rows > mostNarrow)
}

// codes are the memory of what products read in eight bits, and of its scales, and its names in Buffers. Those of a
// layer's rows have none: bind gives each layer those of the one before.
func (r *Rank) codes() (list []memory, named Buffers) {
	own, all, whole := 0, 0, 0 // rows of the largest step, and of one whose rows all ranks have
	for _, b := range r.Buckets {
		rows := r.padded(b)
		switch {
		case r.scaled(b):
			own, all, whole = max(own, rows), max(all, rows), max(whole, rows)
		case r.ofEight() && b.Spread:
			own, all = max(own, rows/r.Ranks), max(all, rows)
		}
	}
	named = Buffers{}
	add := func(rows, columns int, codes, scales *device.Ptr) {
		each := cmp.Or(r.square(), columns) // which have one scale
		list = append(list, memory{bytes: int64(rows * columns), to: codes},
			memory{bytes: 4 * int64(rows*columns/each), to: scales})
	}
	add(own, r.Hidden, &r.first.codes, &r.first.scales)
	add(whole, r.Hidden, &r.other.codes, &r.other.scales)
	for _, x := range []struct {
		name          string
		rows, columns int
	}{{"O8", all, r.params.Queries * r.HeadSize}, {"Y8", own, r.Hidden}, {"G8", all, r.params.Width}} {
		codes, scales := new(device.Ptr), new(device.Ptr)
		named[x.name], named["Scale"+x.name] = codes, scales
		add(x.rows, x.columns, codes, scales)
	}
	return list, named
}
