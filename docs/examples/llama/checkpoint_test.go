package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ovgen/runtime/device"
)

// TestConfigRefused has configs that are not served: the error names the field.
func TestConfigRefused(t *testing.T) {
	for _, x := range []struct{ name, field, value, want string }{
		{"another model", "model_type", `"mistral"`, `model_type is "mistral" (only "llama" is served)`},
		{"quantized", "quantization_config", `{"quant_method": "fp8"}`, "quantization_config is {"},
		{"a window", "sliding_window", "4096", "sliding_window is 4096 (only null is served)"},
		{"GELU", "hidden_act", `"gelu"`, `hidden_act is "gelu"`},
		{"a bias", "attention_bias", "true", "attention_bias is true (only false is served)"},
		{"another bias", "mlp_bias", "true", "mlp_bias is true"},
		{"epsilon", "rms_norm_eps", "1e-6", "rms_norm_eps is 1e-06 (it must be 1e-05, which schedule.RMSNorm has)"},
		{"no layers", "num_hidden_layers", "null", "num_hidden_layers is 0 (it must be above 0)"},
		{"a text", "vocab_size", `"many"`, "vocab_size"},
		{"heads of keys", "num_key_value_heads", "5", "num_key_value_heads is 5 (it must divide the 12"},
		{"large heads", "head_dim", "256", "head_dim is 256 (it must be a multiple of 8, at most 128)"},
		{"yarn", "rope_scaling", `{"type": "yarn"}`, `rope_scaling.rope_type is yarn (it must be default or llama3)`},
		{"newer yarn", "rope_parameters", `{"rope_type": "yarn"}`, `rope_scaling.rope_type is yarn`},
		{"no factor", "rope_scaling", `{"rope_type": "llama3"}`, "rope_scaling is llama3 (it must have factor, low"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := parseConfig(changed(t, x.field, x.value))
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
	if _, err := parseConfig([]byte("{")); err == nil {
		t.Error("half an object is a config")
	}
	if _, err := ReadConfig(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// changed is the tiny model's config with another value of a field.
func changed(t *testing.T, field, value string) []byte {
	dir := t.TempDir()
	if err := WriteCheckpoint(dir, Tiny, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	fields := map[string]json.RawMessage{}
	if err := errors.Join(err, json.Unmarshal(text, &fields)); err != nil {
		t.Fatal(err)
	}
	fields[field] = json.RawMessage(value)
	if text, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestConfigRead takes what files of several ages have.
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
	} {
		if c, err := parseConfig(changed(t, x.field, x.value)); err != nil || !x.good(c) {
			t.Errorf("%s %s: %+v, %v", x.field, x.value, c, err)
		}
	}
}

// file is a safetensors file of a header and so many bytes.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

// TestTensorsRefused has files that break the format's rules.
func TestTensorsRefused(t *testing.T) {
	const x = `"x": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}`
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "the header's length"},
		{"a header that ends early", file("{"+x+"}", 0)[:20], "truncated"},
		{"an endless header", binary.LittleEndian.AppendUint64(nil, 1<<60), "truncated, or no safetensors file"},
		{"no object", file("[]", 0), "the header: json: cannot unmarshal array"},
		{"half an object", file("{"+x, 8), "the header"},
		{"no tensor", file(`{"x": 3}`, 8), "the header: json: cannot unmarshal number"},
		{"data that ends early", file("{"+x+"}", 7),
			"tensor x: [0 8] of 7 bytes is no place for shape [2 2] (the file may be truncated)"},
		{"a tail", file("{"+x+"}", 9), "9 bytes of tensors"},
		{"one name twice", file("{"+x+`, "x": {"dtype": "BF16", "shape": [2], "data_offsets": [8, 12]}}`, 12),
			"12 bytes of tensors, and the header tells of 4"},
		{"a hole", file("{"+x+`, "y": {"dtype": "BF16", "shape": [2], "data_offsets": [12, 16]}}`, 16),
			"16 bytes of tensors, and the header tells of 12"},
		{"a place that is too small", file(`{"x": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 4]}}`, 8),
			"tensor x: [0 4] of 8 bytes is no place for shape [4]"},
		{"a place behind the end", file("{"+x+`, "y": {"dtype": "BF16", "shape": [2], "data_offsets": [8, 12]}}`, 10),
			"tensor y: [8 12] of 10 bytes is no place for shape [2] (the file may be truncated)"},
		{"a place before the data", file(`{"x": {"dtype": "BF16", "shape": [2], "data_offsets": [-4, 0]}}`, 4),
			"tensor x: [-4 0] of 4 bytes is no place for shape [2]"},
		{"overflow", file(`{"x": {"dtype": "BF16", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}}`, 0),
			"tensor x: [0 0] of 0 bytes is no place for shape"},
		{"a type", file(`{"x": {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}}`, 8),
			`type "F8_E4M3" is not served (BF16 is)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := OpenTensors(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "%!") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := OpenTensors(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestTensorsRead reads parts of tensors of two files, in either type.
func TestTensorsRead(t *testing.T) {
	dir := t.TempDir()
	first := file(`{"x": {"dtype": "BF16", "shape": [3, 2], "data_offsets": [0, 12]}}  `, 0)
	for i := range 6 {
		first = binary.LittleEndian.AppendUint16(first, rounded(float32(i)))
	}
	second := file(`{"y": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}`, 2)
	index := `{"weight_map": {"x": "1.safetensors", "y": "2.safetensors"}}`
	for name, data := range map[string][]byte{"1.safetensors": first, "2.safetensors": second,
		"model.safetensors.index.json": []byte(index)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tensors, err := OpenTensors(dir)
	if err != nil {
		t.Fatal(err)
	}
	shape := []int{3, 2}
	for _, x := range []struct {
		part Part
		want []float32
	}{
		{Part{Shape: shape, Count: 3}, []float32{0, 1, 2, 3, 4, 5}},
		{Part{Shape: shape, From: 1, Count: 1}, []float32{2, 3}},
		{Part{Shape: shape, Axis: 1, From: 1, Count: 1}, []float32{1, 3, 5}},
		{Part{Shape: shape, From: 2, Count: 2}, []float32{4, 5, 0, 0}},
		{Part{Shape: shape, From: 4, Count: 1}, []float32{0, 0}},
	} {
		var want32, want16 []byte
		for _, f := range x.want {
			want16 = binary.LittleEndian.AppendUint16(want16, rounded(f))
			want32 = binary.LittleEndian.AppendUint32(want32, uint32(rounded(f))<<16)
		}
		for typ, want := range map[device.Type][]byte{device.BF16: want16, device.FP32: want32} {
			x.part.Name, x.part.Type = "x", typ
			got, err := tensors.Read(x.part)
			if err = errors.Join(tensors.Check(x.part), err); err != nil || string(got) != string(want) {
				t.Errorf("%+v: %v %v, want %v", x.part, got, err, want)
			}
		}
	}
	if got, err := tensors.Read(Part{Name: "y", Shape: []int{1}, Count: 1, Type: device.BF16}); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
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
		if _, _, err := s.Open(); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
	s := small.in(dir)
	s.Room = 1 << 20
	if m, _, err := s.Open(); err != nil || m.Room != Tiny.Positions {
		t.Errorf("room for %d, %v", m.Room, err)
	}
}

// TestNeeds counts what a model of 8B needs on each of two ranks, without making it.
func TestNeeds(t *testing.T) {
	m := Model{Spec: Usual, Config: large, Tensors: Tensors{}}
	m.Ranks, m.Layers = 2, 32
	for name, shape := range m.Config.tensors() {
		m.Tensors[name] = stored{Shape: shape}
	}
	needs, err := m.Needs()
	if err != nil {
		t.Fatal(err)
	}
	const h, half, bf16, fp32 = 4096, 2, 2, 4
	layer := (2*h*h+2*8*128*h+3*14336*h)*bf16/half + 2*h*bf16
	embedding, head := 128256*h*bf16, 128256/half*h*fp32
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
