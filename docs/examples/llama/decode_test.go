package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/group"
)

const seed = 1

// small has buckets in which few rows of a prompt are not spread, and more are.
var small = Options{Type: device.FP32, Sequences: 3, Room: 128, Many: 16, Prefill: []int{4, 16}, Decode: []int{1, 4}}

// tiny writes the tiny model.
func tiny(t *testing.T) (dir string, weights map[string]Array) {
	dir, weights = t.TempDir(), Random(Tiny, seed)
	if err := WriteCheckpoint(dir, Tiny, weights); err != nil {
		t.Fatal(err)
	}
	return dir, weights
}

func start(t *testing.T, dir string, ranks int, o Options) Goroutines {
	t.Helper()
	crew, err := StartGoroutines(t.Context(), Spec{dir, ranks, o}, group.Config{Backend: "sim"})
	if err != nil {
		t.Fatal(err)
	}
	return crew
}

// logits are those of an answer of the last step, of all ranks.
func (all Goroutines) logits(t *testing.T, answer int) (list []float64) {
	for _, r := range all {
		raw := make([]byte, 4*r.RealTokens(r.Config))
		if err := r.driver.MemcpyDtoH(raw, r.memory.logits+device.Ptr(4*answer*r.Tokens)); err != nil {
			t.Fatal(err)
		}
		for ; len(raw) > 0; raw = raw[4:] {
			list = append(list, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		}
	}
	return list
}

// prompt is text as tokens.
var prompt = []int{256, 84, 104, 101, 32, 114, 97, 110, 107, 115, 32, 109, 101, 101, 116, 32, 97, 116, 32, 97}

// TestTokens decodes in fp32 on 1, 2, 3 and 4 ranks: all tokens are those of the reference in float64.
func TestTokens(t *testing.T) {
	dir, weights := tiny(t)
	m := newReference(Tiny, weights)
	var want [][]float64
	for _, token := range prompt {
		want = [][]float64{m.next(token)}
	}
	var tokens []int
	for range 12 {
		token, gap := first(want[len(want)-1])
		if gap < .004 {
			t.Fatalf("token %d is %g above the next: choose another seed", len(tokens), gap)
		}
		tokens = append(tokens, token)
		want = append(want, m.next(token))
	}
	for ranks := 1; ranks <= 4; ranks++ {
		t.Run(fmt.Sprint(ranks, " ranks"), func(t *testing.T) {
			crew := start(t, dir, ranks, small)
			got := decodeGreedily(t, crew, len(tokens), func(i, answer int) {
				near(t, crew.logits(t, answer), want[i], 5e-5, 5e-5)
			})
			if !slices.Equal(got, tokens) {
				t.Errorf("%v, want %v", got, tokens)
			}
			if err := crew.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// decodeGreedily reads the prompt in chunks and decodes so many tokens.
func decodeGreedily(t *testing.T, crew Goroutines, n int, look func(i, answer int)) (tokens []int) {
	t.Helper()
	step := func(b Batch) int {
		next, err := crew.Step(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return int(next[0])
	}
	most := slices.Max(crew[0].Prefill)
	token, answer := 0, 0
	for from := 0; from < len(prompt); from += most {
		b := Batch{Prompt: true}
		for p := from; p < min(from+most, len(prompt)); p++ {
			b.Add(prompt[p], 1, p)
		}
		token = step(b)
	}
	for i := range n {
		look(i, answer)
		tokens = append(tokens, token)
		var b Batch
		b.Add(token, 1, len(prompt)+i)
		token, answer = step(b), 0
	}
	look(n, 0)
	return tokens
}

// near holds logits against the reference's: their errors by its standard deviation.
func near(t *testing.T, got, want []float64, most, rms float64) {
	t.Helper()
	unit, worst, squares := spread(want), 0.0, 0.0
	for i, x := range want {
		e := math.Abs(got[i]-x) / unit
		worst, squares = max(worst, e), squares+e*e
	}
	if len(got) != len(want) || !(worst <= most) || !(math.Sqrt(squares/float64(len(want))) <= rms) {
		t.Errorf("%d logits, off by up to %g (rms %g) standard deviations", len(got), worst,
			math.Sqrt(squares/float64(len(want))))
	}
}
