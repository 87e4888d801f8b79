package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestGolden holds the reference against transformers' results for the tiny models (golden.py): its tokens, its logits
// in fp32, and as the measure of bf16 its logits in bf16.
func TestGolden(t *testing.T) {
	for family, c := range tinies {
		t.Run(family, func(t *testing.T) { golden(t, c) })
	}
}

func golden(t *testing.T, c Config) {
	var golden struct {
		Prompt, Tokens []int
		FP32, BF16     []byte // [1 + tokens, vocabulary] of float32
	}
	text, err := os.ReadFile(filepath.Join("testdata", c.Family+".json"))
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := newReference(c, Random(c, seed))
	var logits []float64
	for _, token := range golden.Prompt {
		logits = m.next(token)
	}
	row := func(raw []byte, i int) []float64 {
		return floats(raw[4*i*c.Vocabulary : 4*(i+1)*c.Vocabulary])
	}
	for i, token := range golden.Tokens {
		if best, _ := first(logits); best != token {
			t.Errorf("token %d is %d, and transformers made %d", i, best, token)
		}
		near(t, row(golden.FP32, i), logits, exact)
		near(t, row(golden.BF16, i), logits, bounds{most: .5, row: .05})
		logits = m.next(token)
	}
}
