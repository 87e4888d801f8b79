package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/safetensors"
)

// TestConfigRefused has configs that are not served: the error names the field.
func TestConfigRefused(t *testing.T) {
	for _, x := range []struct{ name, field, value, want string }{
		{"another model", "model_type", `"phi3"`,
			"model_type is phi3 (it must be one of gemma2, gemma3_text, llama, mistral, qwen2, qwen3)"},
		{"quantized", "quantization_config", `{"quant_method": "awq"}`,
			"quantization_config.quant_method is awq (it must be compressed-tensors or fp8)"},
		{"a window", "sliding_window", "4096", "sliding_window is 4096 (it must be null)"},
		{"GELU", "hidden_act", `"gelu"`, `hidden_act is "gelu"`},
		{"a bias", "attention_bias", "true", "attention_bias is true (only false is served)"},
		{"another bias", "mlp_bias", "true", "mlp_bias is true"},
		{"no epsilon", "rms_norm_eps", "0", "rms_norm_eps is 0 (it must be a number such as 1e-6)"},
		{"an epsilon that fp32 lacks", "rms_norm_eps", "1e-60", "rms_norm_eps is 1e-60 (it must be a number"},
		{"a large epsilon", "rms_norm_eps", "2", "rms_norm_eps is 2 (it must be a number such as 1e-6)"},
		{"no layers", "num_hidden_layers", "null", "num_hidden_layers is 0 (it must be above 0)"},
		{"a text", "vocab_size", `"many"`, "vocab_size"},
		{"heads of keys", "num_key_value_heads", "5", "num_key_value_heads is 5 (it must divide the 12"},
		{"large heads", "head_dim", "264", "head_dim is 264 (it must be a multiple of 8, at most 256)"},
		{"yarn", "rope_scaling", `{"type": "yarn"}`,
			"rope_scaling.rope_type is yarn (it must be default, linear or llama3)$"},
		{"newer yarn", "rope_parameters", `{"rope_type": "yarn"}`, `rope_scaling.rope_type is yarn`},
		{"no factor", "rope_scaling", `{"rope_type": "llama3"}`, "rope_scaling is llama3 (it must have factor, low"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := ReadConfig(changed(t, x.field, x.value))
			if !errors.As(err, new(NeverError)) || !strings.Contains(err.Error()+"$", x.want) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
	if _, err := ReadConfig(t.TempDir()); !errors.Is(err, fs.ErrNotExist) || errors.As(err, new(NeverError)) {
		t.Error(err)
	}
}

// changed is a folder with the tiny model's config, but for the values of fields. An empty value leaves its field out.
func changed(t *testing.T, pairs ...string) (dir string) {
	dir = t.TempDir()
	if err := WriteCheckpoint(dir, Tiny, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	fields := map[string]json.RawMessage{}
	if err := errors.Join(err, json.Unmarshal(text, &fields)); err != nil {
		t.Fatal(err)
	}
	for ; len(pairs) > 0; pairs = pairs[2:] {
		if fields[pairs[0]] = json.RawMessage(pairs[1]); pairs[1] == "" {
			delete(fields, pairs[0])
		}
	}
	if text, err = json.Marshal(fields); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestConfigRead reads fields in the forms of older and newer files.
func TestConfigRead(t *testing.T) {
	for _, x := range []struct {
		field, value string
		good         func(c Config) bool
	}{
		{"eos_token_id", "7", func(c Config) bool { return len(c.Ends) == 1 && c.Ends[0] == 7 }},
		{"eos_token_id", "[7, 9]", func(c Config) bool { return len(c.Ends) == 2 && c.Ends[1] == 9 }},
		{"eos_token_id", "null", func(c Config) bool { return c.Ends == nil }},
		{"head_dim", "null", func(c Config) bool { return c.HeadSize == 8 }},
		{"num_key_value_heads", "null", func(c Config) bool { return c.KeyHeads == 12 }},
		{"rope_scaling", "null", func(c Config) bool { return c.Scaling == nil && c.Theta == 500000 }},
		{"rope_parameters", `{"rope_type": "default", "rope_theta": 9}`, func(c Config) bool {
			return c.Scaling == nil && c.Theta == 9
		}},
		{"sliding_window", "null", func(c Config) bool { return c.Layers == 2 }},
		{"model_type", "null", func(c Config) bool { return c.Family == "llama" }},
	} {
		if c, err := ReadConfig(changed(t, x.field, x.value)); err != nil || !x.good(c) {
			t.Errorf("%s %s: %+v, %v", x.field, x.value, c, err)
		}
	}
}

// TestConfigGemma reads fields that only Gemma has: what a file lacks is as in transformers, and null is no cap.
func TestConfigGemma(t *testing.T) {
	gemma := []string{"model_type", `"gemma2"`, "hidden_act", "", "tie_word_embeddings", "",
		"max_position_embeddings", ""}
	c, err := ReadConfig(changed(t, gemma...))
	if err != nil || !c.Tied || c.QueryScalar != 256 || *c.ScoreCap != 50 || *c.LogitCap != 30 || c.Positions != 4096 {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = ReadConfig(changed(t, append(gemma, "attn_logit_softcapping", "null", "final_logit_softcapping", "7",
		"query_pre_attn_scalar", "144", "tie_word_embeddings", "false")...))
	if err != nil || c.Tied || c.QueryScalar != 144 || c.ScoreCap != nil || *c.LogitCap != 7 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = ReadConfig(changed(t, "attn_logit_softcapping", "5", "query_pre_attn_scalar", "7",
		"final_logit_softcapping", "5")); err != nil || c.ScoreCap != nil || c.LogitCap != nil || c.QueryScalar != 8 {
		t.Errorf("Llama's have fields of Gemma's: %+v, %v", c, err)
	}
	for _, x := range []struct{ field, value, want string }{
		{"hidden_activation", `"silu"`, `hidden_activation is "silu" (only "gelu_pytorch_tanh" is served)`},
		{"attn_logit_softcapping", "-1", "attn_logit_softcapping is -1 (it must be null or above 0)"},
		{"final_logit_softcapping", "0", "final_logit_softcapping is 0 (it must be null or above 0)"},
		{"query_pre_attn_scalar", "-2", "query_pre_attn_scalar is -2 (it must be above 0)"},
		{"use_bidirectional_attention", "true", "use_bidirectional_attention is true"},
	} {
		_, err := ReadConfig(changed(t, append(gemma, x.field, x.value)...))
		if !errors.As(err, new(NeverError)) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}

// TestConfigKinds reads the rotary embeddings of Gemma 3's two kinds of layers, in the forms of older and newer files.
func TestConfigKinds(t *testing.T) {
	gemma := []string{"model_type", `"gemma3_text"`, "hidden_act", "", "num_hidden_layers", "8", "rope_theta", "",
		"rope_scaling", ""}
	kinds := `["full_attention"` + strings.Repeat(`, "sliding_attention"`, 7) + "]"
	for _, x := range []struct {
		pairs        []string
		theta, local float64
		factor       float64 // 0: there is none
		locals       int     // so many layers are local
		first, last  bool    // this one is
	}{
		{nil, 1e6, 1e4, 0, 7, true, true},
		{[]string{"rope_theta", "5", "rope_local_base_freq", "7", "sliding_window_pattern", "4",
			"rope_scaling", `{"rope_type": "linear", "factor": 8}`}, 5, 7, 8, 6, true, false},
		{[]string{"layer_types", kinds, "rope_parameters", `{"full_attention":
			{"rope_type": "linear", "factor": 2, "rope_theta": 9}, "sliding_attention": {"rope_theta": 3}}`},
			9, 3, 2, 7, false, true},
	} {
		c, err := ReadConfig(changed(t, append(gemma, x.pairs...)...))
		if err != nil {
			t.Error(err)
			continue
		}
		locals, factor := 0, 0.0
		for i := range c.Layers {
			if c.local(i) {
				locals++
			}
		}
		if c.Scaling != nil {
			factor = c.Scaling.Factor
		}
		if c.Theta != x.theta || c.LocalTheta != x.local || factor != x.factor || locals != x.locals ||
			c.local(0) != x.first || c.local(7) != x.last {
			t.Errorf("%v: %+v, scaling %+v, %d local", x.pairs, c, c.Scaling, locals)
		}
	}
	for _, x := range []struct{ field, value, want string }{
		{"layer_types", `["full_attention"]`, "layer_types is [full_attention] (it must have one for each layer)"},
		{"sliding_window_pattern", "-1", "sliding_window_pattern is -1 (it must be above 0)"},
		{"rope_scaling", `{"rope_type": "linear"}`, "rope_scaling.factor is 0 (it must be above 0)"},
	} {
		if _, err := ReadConfig(changed(t, append(gemma, x.field, x.value)...)); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}

// TestWindow reads configs with a window: no sequence is longer. Where a file of Mistral's has none, transformers takes
// one of 4096 tokens. Of Qwen's, another field says whether it counts.
func TestWindow(t *testing.T) {
	for _, x := range []struct {
		family, window, use string
		positions           int
	}{
		{"mistral", "null", "", 32768}, {"mistral", "", "", 4096}, {"mistral", "1024", "", 1024},
		{"qwen2", "1024", "", 32768}, {"qwen2", "1024", "false", 32768}, {"qwen2", "1024", "true", 1024},
		{"qwen2", "", "true", 4096}, {"qwen3", "null", "true", 32768}, {"qwen3", "1024", "true", 1024},
		{"gemma2", "null", "", 32768}, {"gemma2", "", "", 4096}, {"gemma2", "1024", "", 1024},
		{"gemma3_text", "512", "", 512}, {"gemma3_text", "", "", 4096},
	} {
		c, err := ReadConfig(changed(t, "model_type", `"`+x.family+`"`, "max_position_embeddings", "32768",
			"sliding_window", x.window, "use_sliding_window", x.use, "hidden_act", ""))
		if err != nil || c.Positions != x.positions {
			t.Errorf("%+v: %d positions, %v", x, c.Positions, err)
		}
	}
	_, err := ReadConfig(changed(t, "model_type", `"mistral"`, "sliding_window", "-1"))
	if !errors.As(err, new(NeverError)) || !strings.Contains(err.Error(), "sliding_window is -1 (it must be above 0)") {
		t.Error(err)
	}
}

// TestTypes decodes from files of other types, which hold the same numbers: the logits are the same.
func TestTypes(t *testing.T) {
	weights := Random(Tiny, seed)
	for _, a := range weights {
		for i, x := range a.Data {
			if math.Abs(float64(x)) < 1.0/8192 { // fp16 lacks digits below
				a.Data[i] = 0
			}
		}
	}
	for _, typ := range []device.Type{device.BF16, device.FP32} {
		var want []float64
		for _, in := range []string{"BF16", "F16", "F32"} {
			dir := t.TempDir()
			err := errors.Join(WriteCheckpoint(dir, Tiny, nil),
				writeTensors(filepath.Join(dir, "model.safetensors"), in, weights))
			if err != nil {
				t.Fatal(err)
			}
			s := small.in(dir)
			s.Type = typ
			crew, err := s.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var b Batch
			b.add(72, 0, 0)
			step(t, crew, b)
			if got := crew.logits(t, 0); want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				t.Errorf("logits of %s in %v differ from those of BF16", in, typ)
			}
			if err := crew.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOpenRefused has models that can't be cut, or not decoded as asked.
func TestOpenRefused(t *testing.T) {
	dir, _ := tiny(t, Tiny)
	for _, x := range []struct {
		name   string
		change func(s *Spec)
		want   string
	}{
		{"5 ranks", func(s *Spec) { s.Ranks = 5 },
			"cut the model for 5 ranks: they must be 1 or more, and divide num_attention_heads, 12"},
		{"no ranks", func(s *Spec) { s.Ranks = 0 }, "cut the model for 0 ranks: they must be 1 or more"},
		{"no room", func(s *Spec) { s.Room = 0 }, "3 sequences of 0 tokens (1 to 4 of 2 tokens and more are served)"},
		{"many sequences", func(s *Spec) { s.Sequences = 5 }, "5 sequences of 128 tokens (1 to 4 of"},
	} {
		s := small.in(dir)
		x.change(&s)
		if _, err := s.Open(); !errors.As(err, new(NeverError)) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
	s := small.in(dir)
	s.Room = 1 << 20
	if m, err := s.Open(); err != nil || m.Room != Tiny.Positions {
		t.Errorf("room for %d, %v", m.Room, err)
	}
}

// TestNeeds counts the memory of a model of 8B on each of two ranks, without making it.
func TestNeeds(t *testing.T) {
	m := Model{Spec: Usual, Config: large, Tensors: safetensors.Tensors{}}
	m.Ranks, m.Layers = 2, 32
	for name, shape := range m.Config.tensors() {
		m.Tensors[name] = safetensors.Tensor{Type: "BF16", Shape: shape}
	}
	r, err := NewRank(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	needs := r.Needs
	const h, half, bf16 = 4096, 2, 2
	layer := (2*h*h+2*8*128*h+3*14336*h)*bf16/half + 2*h*bf16
	embedding, head := 128256*h*bf16, 128256/half*h*bf16
	if want := int64(32*layer + embedding + head + h*bf16); needs.Buffers[0].Bytes != want {
		t.Errorf("weights %d, want %d", needs.Buffers[0].Bytes, want)
	}
	if want := int64(2 * 32 * (64 + 1) * 4096 * 4 * 128 * bf16); needs.Buffers[1].Bytes != want {
		t.Errorf("cache %d, want %d", needs.Buffers[1].Bytes, want)
	}
	if needs.Buffers[2].Bytes <= 0 || needs.Arena() <= 0 || needs.Workspace() <= 0 {
		t.Errorf("%+v", needs)
	}
	t.Logf("%+v", needs)
}
