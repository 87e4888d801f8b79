package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"ovgen/docs/examples/llama/kernels"
)

// Config is what config.json says about a model.
type Config struct {
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
	Ends         ids      `json:"eos_token_id"` // tokens behind which nothing follows
}

// Scaling is Llama 3's stretching of the rotary embedding's waves.
type Scaling struct {
	Type     string  `json:"rope_type"`
	Factor   float64 `json:"factor"`
	Low      float64 `json:"low_freq_factor"`
	High     float64 `json:"high_freq_factor"`
	Original float64 `json:"original_max_position_embeddings"`
	OldType  string  `json:"type,omitempty"`
	Theta    float64 `json:"rope_theta,omitempty"` // newer files have it here
}

// ids are token ids: a number, a list or null.
type ids []int

// UnmarshalJSON reads any of the three.
func (l *ids) UnmarshalJSON(b []byte) error {
	var one int
	if json.Unmarshal(b, &one) == nil && string(b) != "null" {
		*l = ids{one}
		return nil
	}
	return json.Unmarshal(b, (*[]int)(l))
}

// refused are fields that change the model in a way that is not served, unless they have this value or none.
var refused = map[string]string{
	"model_type": `"llama"`, "hidden_act": `"silu"`, "attention_bias": "false", "mlp_bias": "false",
	"quantization_config": "null", "sliding_window": "null",
}

// FieldError says that a config is not served, because of one field.
type FieldError struct{ Field, Problem string }

// Error names the field.
func (e *FieldError) Error() string { return e.Field + " " + e.Problem }

// ReadConfig reads config.json of a folder. Errors are the file's, or one *FieldError each joined.
func ReadConfig(dir string) (c Config, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		return c, fmt.Errorf("read the config: %w", err)
	}
	if c, err = parseConfig(text); err != nil {
		return c, fmt.Errorf("read %s: %w", filepath.Join(dir, "config.json"), err)
	}
	return c, nil
}

func parseConfig(text []byte) (c Config, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return c, err
	}
	c = Config{Epsilon: 1e-6, Theta: 10000, Positions: 2048}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}
	if newer, ok := fields["rope_parameters"]; ok && string(newer) != "null" {
		if err := json.Unmarshal(newer, &c.Scaling); err != nil {
			return c, fmt.Errorf("rope_parameters: %w", err)
		}
	}
	if c.KeyHeads == 0 {
		c.KeyHeads = c.Heads
	}
	if c.HeadSize == 0 && c.Heads > 0 {
		c.HeadSize = c.Hidden / c.Heads
	}
	errs := []error{c.rope()}
	for field, only := range refused {
		if has, ok := fields[field]; ok && string(has) != only && string(has) != "null" {
			errs = append(errs, &FieldError{field, fmt.Sprintf("is %s (only %s is served)", has, only)})
		}
	}
	return c, errors.Join(append(errs, c.check()...)...)
}

// rope settles the rotary embedding.
func (c *Config) rope() error {
	s := c.Scaling
	if s == nil {
		return nil
	}
	if s.Type == "" {
		s.Type = s.OldType
	}
	if s.Theta != 0 {
		c.Theta = s.Theta
	}
	switch {
	case s.Type == "default" || s.Type == "":
		c.Scaling = nil
	case s.Type != "llama3":
		return &FieldError{"rope_scaling.rope_type", fmt.Sprintf("is %q (default and llama3 are served)", s.Type)}
	case s.Factor <= 0 || s.Low <= 0 || s.High <= s.Low || s.Original <= 0:
		return &FieldError{"rope_scaling", "has no factor, low_freq_factor, high_freq_factor above it, and " +
			"original_max_position_embeddings, all above 0"}
	}
	return nil
}

func (c *Config) check() (errs []error) {
	for _, f := range []struct {
		name  string
		value int
	}{{"vocab_size", c.Vocabulary}, {"hidden_size", c.Hidden}, {"intermediate_size", c.Intermediate},
		{"num_hidden_layers", c.Layers}, {"num_attention_heads", c.Heads}, {"num_key_value_heads", c.KeyHeads},
		{"head_dim", c.HeadSize}, {"max_position_embeddings", c.Positions}} {
		if f.value <= 0 {
			errs = append(errs, &FieldError{f.name, fmt.Sprintf("is %d (it must be above 0)", f.value)})
		}
	}
	if len(errs) > 0 {
		return errs
	}
	if c.Heads%c.KeyHeads != 0 || c.Heads/c.KeyHeads > kernels.MostGroup {
		errs = append(errs, &FieldError{"num_key_value_heads", fmt.Sprintf("is %d of %d heads (it must divide them "+
			"into groups of at most %d)", c.KeyHeads, c.Heads, kernels.MostGroup)})
	}
	if c.HeadSize%8 != 0 || c.HeadSize > kernels.MostSize {
		errs = append(errs, &FieldError{"head_dim", fmt.Sprintf("is %d (multiples of 8 up to %d are served)",
			c.HeadSize, kernels.MostSize)})
	}
	if c.Epsilon != 1e-5 {
		errs = append(errs, &FieldError{"rms_norm_eps", fmt.Sprintf("is %g (schedule.RMSNorm has 1e-05)", c.Epsilon)})
	}
	return errs
}

// tensors are the shapes of a model's weights, by name.
func (c Config) tensors() map[string][]int {
	h, q, k := c.Hidden, c.Heads*c.HeadSize, c.KeyHeads*c.HeadSize
	all := map[string][]int{"model.embed_tokens.weight": {c.Vocabulary, h}, "model.norm.weight": {h}}
	if !c.Tied {
		all["lm_head.weight"] = []int{c.Vocabulary, h}
	}
	for i := range c.Layers {
		for name, shape := range map[string][]int{
			"input_layernorm": {h}, "self_attn.q_proj": {q, h}, "self_attn.k_proj": {k, h}, "self_attn.v_proj": {k, h},
			"self_attn.o_proj": {h, q}, "post_attention_layernorm": {h}, "mlp.gate_proj": {c.Intermediate, h},
			"mlp.up_proj": {c.Intermediate, h}, "mlp.down_proj": {h, c.Intermediate},
		} {
			all[fmt.Sprintf("model.layers.%d.%s.weight", i, name)] = shape
		}
	}
	return all
}

// Angles are cosine and sine of each position and pair of a head: [positions, HeadSize/2, 2].
func (c *Config) Angles(positions int) []float32 {
	half := c.HeadSize / 2
	table := make([]float32, 0, positions*half*2)
	for p := range positions {
		for i := range half {
			sin, cos := math.Sincos(float64(p) * c.frequency(i))
			table = append(table, float32(cos), float32(sin))
		}
	}
	return table
}

// frequency is how far a position turns pair i, in radians.
func (c *Config) frequency(i int) float64 {
	f := math.Pow(c.Theta, -2*float64(i)/float64(c.HeadSize))
	s := c.Scaling
	if s == nil {
		return f
	}
	switch wave := 2 * math.Pi / f; {
	case wave < s.Original/s.High:
		return f
	case wave > s.Original/s.Low:
		return f / s.Factor
	default:
		smooth := (s.Original/wave - s.Low) / (s.High - s.Low)
		return (1-smooth)*f/s.Factor + smooth*f
	}
}
