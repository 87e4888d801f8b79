package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"ovgen/docs/examples/llama/kernels"
	"ovgen/runtime/numbers"
)

// Config has the fields of config.json that the decoder uses.
type Config struct {
	Family       string   `json:"model_type"` // default: llama
	Vocabulary   int      `json:"vocab_size"`
	Hidden       int      `json:"hidden_size"`
	Intermediate int      `json:"intermediate_size"`
	Layers       int      `json:"num_hidden_layers"`
	Heads        int      `json:"num_attention_heads"`
	KeyHeads     int      `json:"num_key_value_heads"` // default: Heads
	HeadSize     int      `json:"head_dim"`            // default: Hidden / Heads
	Positions    int      `json:"max_position_embeddings"`
	Epsilon      float64  `json:"rms_norm_eps"`
	Tied         bool     `json:"tie_word_embeddings"`
	Theta        float64  `json:"rope_theta"`
	Scaling      *Scaling `json:"rope_scaling"`
	Newer        *Scaling `json:"rope_parameters,omitempty"` // rope_scaling and rope_theta in newer files
	Ends         ids      `json:"eos_token_id"`              // tokens that end an answer
	Window       *int     `json:"sliding_window,omitempty"`  // of attention; a pointer to 0 where the file lacks it
	Windowed     bool     `json:"use_sliding_window,omitempty"`
	QueryScalar  float64  `json:"query_pre_attn_scalar,omitempty"`   // scores are over its root; default: HeadSize
	ScoreCap     *float64 `json:"attn_logit_softcapping,omitempty"`  // no score is beyond it, nil: or above all
	LogitCap     *float64 `json:"final_logit_softcapping,omitempty"` // of logits: the greatest stays the greatest
	LocalTheta   float64  `json:"rope_local_base_freq,omitempty"`    // of local layers, without Scaling; 0: none is
	Kinds        []string `json:"layer_types,omitempty"`             // of layers; "sliding_attention" is a local one
	Pattern      int      `json:"sliding_window_pattern,omitempty"`  // without Kinds, all but each so-manieth is local

	Quantised *Quantised `json:"quantization_config,omitempty"`
}

// Scaling is a stretching of the rotary embedding's waves: Llama 3's, or of all alike.
type Scaling struct {
	Type     string  `json:"rope_type"`
	Factor   float64 `json:"factor"`
	Low      float64 `json:"low_freq_factor"`
	High     float64 `json:"high_freq_factor"`
	Original float64 `json:"original_max_position_embeddings"`
	OldType  string  `json:"type,omitempty"`
	Theta    float64 `json:"rope_theta,omitempty"` // in newer files
	// Full and Local are those of layers of two kinds, in newer files.
	Full  *Scaling `json:"full_attention,omitempty"`
	Local *Scaling `json:"sliding_attention,omitempty"`
}

// ids are token ids: a number, a list or null.
type ids []int

// UnmarshalJSON reads a number, a list or null.
func (l *ids) UnmarshalJSON(b []byte) error {
	if b[0] != '[' && b[0] != 'n' {
		b = fmt.Appendf(nil, "[%s]", b)
	}
	return json.Unmarshal(b, (*[]int)(l))
}

// NeverError says that no later start can serve the model either: its config, or the Spec, asks for something that is
// not served.
type NeverError struct{ error }

// Unwrap is the reason.
func (e NeverError) Unwrap() error { return e.error }

// onlyConfigs are fields that change a family's models. Each has the one value that is served.
func onlyConfigs(f family) map[string]any {
	acts := cmp.Or(f.acts, "silu")
	return map[string]any{"hidden_act": acts, "hidden_activation": acts, "attention_bias": false, "mlp_bias": false,
		"use_bidirectional_attention": false}
}

// ReadConfig reads config.json of a folder. Its error names the fields that keep the model from being served, and is a
// NeverError unless the file is missing or half written.
func ReadConfig(dir string) (Config, error) {
	c := Config{Family: "llama", Epsilon: 1e-6, Theta: 10000, Positions: 2048, Window: new(int)}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err == nil {
		err = c.read(text)
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", path, err)
	}
	if err != nil && json.Valid(text) {
		err = NeverError{err}
	}
	return c, err
}

// read reads a config, the family first, on which defaults depend.
func (c *Config) read(text []byte) error {
	family := struct {
		Name *string `json:"model_type"`
	}{&c.Family}
	_ = json.Unmarshal(text, &family) // whose error comes again
	f := families[c.Family]
	if f.lacks != nil {
		f.lacks(c)
	}
	return readJSON(text, c, onlyConfigs(f), false)
}

// check sets fields that older files lack, and refuses numbers that the kernels and products can't take.
func (c *Config) check() (err error) {
	c.KeyHeads = cmp.Or(c.KeyHeads, c.Heads)
	c.HeadSize = cmp.Or(c.HeadSize, c.Hidden/max(c.Heads, 1))
	s := *cmp.Or(c.Newer, c.Scaling, &Scaling{})
	if s.Local != nil {
		c.LocalTheta = cmp.Or(s.Local.Theta, c.LocalTheta)
	}
	s = *cmp.Or(s.Full, &s)
	s.Type = cmp.Or(s.Type, s.OldType, "default")
	c.Theta, c.Scaling = cmp.Or(s.Theta, c.Theta), &s
	f, known := families[c.Family]
	if !f.grown { // others' models don't know these fields
		c.QueryScalar, c.ScoreCap, c.LogitCap, c.LocalTheta = 0, nil, nil, 0
	}
	c.QueryScalar = cmp.Or(c.QueryScalar, float64(c.HeadSize))
	const above = "be above 0"
	must := func(good bool, field string, value any, what string) {
		if !good {
			err = errors.Join(err, fmt.Errorf("%s is %v (it must %s)", field, value, what))
		}
	}
	must(known, "model_type", c.Family, "be one of "+served())
	switch w := c.Window; {
	case w == nil || f.windowed != nil && !f.windowed(c): // attention takes all positions
	case f.windowed == nil:
		must(*w == 0, "sliding_window", *w, "be null")
	default: // no sequence is longer than a window; transformers takes 4096 where a file has none
		must(*w >= 0, "sliding_window", *w, above)
		c.Positions = min(c.Positions, cmp.Or(*w, 4096))
	}
	must(c.Vocabulary > 0, "vocab_size", c.Vocabulary, above)
	must(c.Hidden > 0, "hidden_size", c.Hidden, above)
	must(c.Intermediate > 0, "intermediate_size", c.Intermediate, above)
	must(c.Layers > 0, "num_hidden_layers", c.Layers, above)
	must(c.Heads > 0, "num_attention_heads", c.Heads, above)
	must(c.KeyHeads > 0 && c.Heads%c.KeyHeads == 0 && c.Heads <= c.KeyHeads*kernels.MostGroup, "num_key_value_heads",
		c.KeyHeads, fmt.Sprintf("divide the %d heads into groups of at most %d", c.Heads, kernels.MostGroup))
	must(c.HeadSize > 0 && c.HeadSize%8 == 0 && c.HeadSize <= kernels.MostSize, "head_dim", c.HeadSize,
		fmt.Sprintf("be a multiple of 8, at most %d", kernels.MostSize))
	must(c.Positions > 0, "max_position_embeddings", c.Positions, above)
	must(len(c.Kinds) == 0 || len(c.Kinds) == c.Layers, "layer_types", c.Kinds, "have one for each layer")
	must(c.LocalTheta == 0 || len(c.Kinds) > 0 || c.Pattern > 0, "sliding_window_pattern", c.Pattern, above)
	must(c.QueryScalar > 0, "query_pre_attn_scalar", c.QueryScalar, above)
	capped := func(field string, most *float64) {
		must(most == nil || *most > 0, field, *cmp.Or(most, new(float64)), "be null or above 0")
	}
	capped("attn_logit_softcapping", c.ScoreCap)
	capped("final_logit_softcapping", c.LogitCap)
	if c.Quantised != nil {
		err = errors.Join(err, c.Quantised.check())
	}
	epsilon := numbers.Epsilon(float32(c.Epsilon))
	must(float32(c.Epsilon) > 0 && epsilon.Check() == nil, "rms_norm_eps", c.Epsilon, "be a number such as 1e-6")
	if s.Type == "default" {
		c.Scaling = nil
		return err
	}
	if s.Type == "linear" {
		must(s.Factor > 0, "rope_scaling.factor", s.Factor, above)
		return err
	}
	if s.Type != "llama3" {
		must(false, "rope_scaling.rope_type", s.Type, "be default, linear or llama3")
		return err
	}
	must(s.Factor > 0 && s.Low > 0 && s.High > s.Low && s.Original > 0, "rope_scaling", s.Type,
		"have factor, low_freq_factor, high_freq_factor above it, and original_max_position_embeddings")
	return err
}

// anything stands for all values of a field.
type anything struct{}

// readJSON reads an object into x. It refuses a field of only whose value is neither the one in only nor null. Where
// all is set, it also refuses fields that only lacks.
func readJSON(text []byte, x any, only map[string]any, all bool) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Errorf("it is no JSON object: %w", err)
	}
	err := json.Unmarshal(text, x)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var given any
		switch want, known := only[name]; {
		case !known && all:
			err = errors.Join(err, fmt.Errorf("%.50s is no field that is served", name))
		case !known || want == any(anything{}):
		case json.Unmarshal(fields[name], &given) == nil && given != nil && !reflect.DeepEqual(given, want):
			served, _ := json.Marshal(want)
			err = errors.Join(err, fmt.Errorf("%s is %.50s (only %s is served)", name, fields[name], served))
		}
	}
	return err
}

// local says that a layer has the rotary embedding of local ones.
func (c *Config) local(layer int) bool {
	switch {
	case c.LocalTheta == 0:
		return false
	case len(c.Kinds) > 0:
		return c.Kinds[layer] == "sliding_attention"
	}
	return (layer+1)%c.Pattern != 0
}

// Angles returns cosine and sine for each position and pair of a head: [positions, HeadSize/2, 2].
func (c *Config) Angles(positions int, local bool) (table []float32) {
	for p := range positions {
		for i := range c.HeadSize / 2 {
			sin, cos := math.Sincos(float64(p) * c.frequency(i, local))
			table = append(table, float32(cos), float32(sin))
		}
	}
	return table
}

// frequency is the angle by which one position turns pair i, in radians.
func (c *Config) frequency(i int, local bool) float64 {
	of := -2 * float64(i) / float64(c.HeadSize)
	if local {
		return math.Pow(c.LocalTheta, of)
	}
	f, s := math.Pow(c.Theta, of), c.Scaling
	switch {
	case s == nil:
		return f
	case s.Type == "linear":
		return f / s.Factor
	}
	wave := 2 * math.Pi / f
	smooth := (s.Original/wave - s.Low) / (s.High - s.Low) // 0 for long waves, 1 for short ones
	smooth = min(max(smooth, 0), 1)
	return (1-smooth)*f/s.Factor + smooth*f
}
