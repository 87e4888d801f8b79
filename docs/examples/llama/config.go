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
	"slices"

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
	Newer        *Scaling `json:"rope_parameters,omitempty"` // the same in newer files
	Ends         ids      `json:"eos_token_id"`              // tokens behind which nothing follows
}

// Scaling is Llama 3's stretching of the rotary embedding's waves.
type Scaling struct {
	Type     string  `json:"rope_type"`
	Factor   float64 `json:"factor"`
	Low      float64 `json:"low_freq_factor"`
	High     float64 `json:"high_freq_factor"`
	Original float64 `json:"original_max_position_embeddings"`
	OldType  string  `json:"type,omitempty"`
	Theta    float64 `json:"rope_theta,omitempty"` // that newer files have here
}

// ids are token ids: a number, a list or null.
type ids []int

// UnmarshalJSON reads any of the three.
func (l *ids) UnmarshalJSON(b []byte) error {
	if b[0] != '[' && b[0] != 'n' {
		b = fmt.Appendf(nil, "[%s]", b)
	}
	return json.Unmarshal(b, (*[]int)(l))
}

// onlyConfigs are fields that change the model, with the values that are served.
var onlyConfigs = map[string]any{"model_type": "llama", "hidden_act": "silu", "attention_bias": false,
	"mlp_bias": false, "quantization_config": nil, "sliding_window": nil}

// ReadConfig reads config.json of a folder. Its error names each field that keeps the model from being served.
func ReadConfig(dir string) (c Config, err error) {
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err == nil {
		c, err = parseConfig(text)
	}
	if err != nil {
		return c, fmt.Errorf("read %s: %w", path, err)
	}
	return c, nil
}

func parseConfig(text []byte) (Config, error) {
	c := Config{Epsilon: 1e-6, Theta: 10000, Positions: 2048}
	err := readJSON(text, &c, onlyConfigs)
	if c.Newer != nil {
		c.Scaling = c.Newer
	}
	c.KeyHeads = cmp.Or(c.KeyHeads, c.Heads)
	c.HeadSize = cmp.Or(c.HeadSize, c.Hidden/max(c.Heads, 1))
	return c, errors.Join(err, c.rope(), c.check())
}

// rope settles the rotary embedding.
func (c *Config) rope() error {
	s := c.Scaling
	if s == nil {
		return nil
	}
	c.Theta = cmp.Or(s.Theta, c.Theta)
	switch kind := cmp.Or(s.Type, s.OldType, "default"); {
	case kind == "default":
		c.Scaling = nil
	case kind != "llama3":
		return fmt.Errorf("rope_scaling.rope_type is %q (default and llama3 are served)", kind)
	case s.Factor <= 0 || s.Low <= 0 || s.High <= s.Low || s.Original <= 0:
		return errors.New("rope_scaling has no factor, low_freq_factor, high_freq_factor above it, and " +
			"original_max_position_embeddings, all above 0")
	}
	return nil
}

// check refuses numbers that no kernel or product is made for.
func (c *Config) check() error {
	sizes := map[string]int{"vocab_size": c.Vocabulary, "hidden_size": c.Hidden, "intermediate_size": c.Intermediate,
		"num_hidden_layers": c.Layers, "num_attention_heads": c.Heads, "num_key_value_heads": c.KeyHeads,
		"head_dim": c.HeadSize, "max_position_embeddings": c.Positions}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[name] <= 0 {
			return fmt.Errorf("%s is %d (it must be above 0)", name, sizes[name])
		}
	}
	var errs []error
	if c.Heads%c.KeyHeads != 0 || c.Heads/c.KeyHeads > kernels.MostGroup {
		errs = append(errs, fmt.Errorf("num_key_value_heads is %d of %d heads (it must divide them into groups of at "+
			"most %d)", c.KeyHeads, c.Heads, kernels.MostGroup))
	}
	if c.HeadSize%8 != 0 || c.HeadSize > kernels.MostSize {
		errs = append(errs, fmt.Errorf("head_dim is %d (multiples of 8 up to %d are served)", c.HeadSize,
			kernels.MostSize))
	}
	if c.Epsilon != 1e-5 {
		errs = append(errs, fmt.Errorf("rms_norm_eps is %g (schedule.RMSNorm has 1e-05)", c.Epsilon))
	}
	return errors.Join(errs...)
}

// Angles are cosine and sine of each position and pair of a head: [positions, HeadSize/2, 2].
func (c *Config) Angles(positions int) (table []float32) {
	for p := range positions {
		for i := range c.HeadSize / 2 {
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
