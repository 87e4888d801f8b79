package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/group"
)

const seed = 1

// small has buckets in which few rows of a prompt are not spread, and more are.
var small = Options{Type: device.FP32, Sequences: 3, Room: 128, Many: 16, Prefill: []int{4, 16}, Decode: []int{1, 4}}

// other is a model with heads that are wider than their share, three heads of keys, which two ranks share, a tied head
// and the plain rotary embedding.
var other = Config{
	Vocabulary: 259, Hidden: 96, Intermediate: 192, Layers: 2, Heads: 12, KeyHeads: 3, HeadSize: 16, Positions: 512,
	Epsilon: 1e-5, Theta: 10000, Tied: true,
}

// tiny writes a model of random weights.
func tiny(t *testing.T, c Config) (dir string, weights map[string]Array) {
	dir, weights = t.TempDir(), Random(c, seed)
	if err := WriteCheckpoint(dir, c, weights); err != nil {
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

// prompt is so many tokens, others by seed.
func prompt(n int, seed uint64) (tokens []int) {
	source := rand.New(rand.NewPCG(seed, 1))
	for range n {
		tokens = append(tokens, source.IntN(Tiny.Vocabulary))
	}
	return tokens
}

// greedy is the reference's tokens behind a prompt, and the logits that they and the one behind them were chosen by.
func greedy(t *testing.T, c Config, weights map[string]Array, prompt []int, n int) (tokens []int, logits [][]float64) {
	m := newReference(c, weights)
	for _, token := range prompt {
		logits = [][]float64{m.next(token)}
	}
	for range n {
		token, gap := first(logits[len(logits)-1])
		if gap < .002 {
			t.Fatalf("token %d is %g above the next one: choose another seed", len(tokens), gap)
		}
		tokens = append(tokens, token)
		logits = append(logits, m.next(token))
	}
	return tokens, logits
}

// sequence is one of those that a crew decodes.
type sequence struct {
	number       int // in the cache
	prompt, made []int
}

// read puts the prompt into the cache by steps of so many rows, and returns how many the last one had.
func (s *sequence) read(t *testing.T, crew Crew, most int) (rows int) {
	t.Helper()
	for from := 0; from < len(s.prompt); from += most {
		b := Batch{Prompt: true}
		for p := from; p < min(from+most, len(s.prompt)); p++ {
			b.Add(s.prompt[p], s.number, p)
		}
		s.made, rows = []int{int(step(t, crew, b)[0])}, len(b.Tokens)
	}
	return rows
}

// answer is the row of logits behind a prompt whose last step had so many rows.
func (all Goroutines) answer(t *testing.T, rows int) int {
	b, err := all[0].bucket(Batch{Prompt: true, Tokens: make([]int32, rows)})
	if err != nil {
		t.Fatal(err)
	}
	return b.want(all[0].Cut, rows, make([]int32, 1))[0]
}

func step(t *testing.T, crew Crew, b Batch) []int32 {
	t.Helper()
	next, err := crew.Step(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// follow makes a token of each sequence behind the tokens that they are told to have.
func follow(t *testing.T, crew Crew, list []*sequence, tokens []int) {
	t.Helper()
	var b Batch
	for i, s := range list {
		b.Add(tokens[i], s.number, len(s.prompt)+len(s.made)-1)
	}
	for i, token := range step(t, crew, b) {
		list[i].made = append(list[i].made, int(token))
	}
}

// near holds logits against the reference's: their errors by its standard deviation. It returns their mean square.
func near(t *testing.T, got, want []float64, most, rms float64) float64 {
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
	return squares / float64(len(want))
}

// decoding is what TestTokens and TestLogits decode, which make example does for longer.
type decoding struct {
	c       Config
	prompts []int // tokens of each
	n       int   // tokens to make
	most    int   // rows of a step that reads a prompt
	o       Options
}

func decodings() []decoding {
	list := []decoding{
		{Tiny, []int{20}, 8, 16, small}, // 16 rows that are spread, and 4 that are not
	}
	if os.Getenv("OVGEN_EXAMPLE") != "" {
		list = append(list, long, decoding{Tiny, []int{65, 1, 3, 130}, 64, 130,
			Options{Sequences: 4, Room: 320, Many: 64, Prefill: []int{1, 16, 130}, Decode: []int{1, 2, 4}}})
	}
	return list
}

// long has more context than a block of the kernels takes, tiles that are not full, and a row that fills a bucket.
var long = decoding{other, []int{270, 5}, 2, 256,
	Options{Sequences: 3, Room: 320, Many: 100, Prefill: []int{8, 70, 256}, Decode: []int{3}}}

// each runs f for each decoding on numbers of ranks, with the sequences in the cache and what they have to be.
func (d decoding) each(t *testing.T, typ device.Type, ranks []int,
	f func(t *testing.T, crew Goroutines, list []*sequence, want [][][]float64, tokens [][]int)) {
	dir, weights := tiny(t, d.c)
	var tokens [][]int
	var logits [][][]float64
	for i, n := range d.prompts {
		made, l := greedy(t, d.c, weights, prompt(n, seed+uint64(i)), d.n)
		tokens, logits = append(tokens, made), append(logits, l)
	}
	for _, n := range ranks {
		t.Run(fmt.Sprint(d.prompts, " on ", n, " ranks"), func(t *testing.T) {
			d.o.Type = typ
			crew := start(t, dir, n, d.o)
			var list []*sequence
			for i, n := range d.prompts {
				list = append(list, &sequence{number: i, prompt: prompt(n, seed+uint64(i))})
			}
			f(t, crew, list, logits, tokens)
			if err := crew.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTokens decodes in fp32: whatever the ranks, and whatever else is decoded at the same time, logits are near those
// of the reference in float64, and all tokens its tokens.
func TestTokens(t *testing.T) {
	hold := func(d decoding, ranks ...int) {
		d.each(t, device.FP32, ranks, func(t *testing.T, crew Goroutines, list []*sequence, want [][][]float64,
			tokens [][]int) {
			for i, s := range list {
				near(t, crew.logits(t, crew.answer(t, s.read(t, crew, d.most))), want[i][0], 5e-5, 5e-5)
			}
			for n := range d.n {
				var last []int
				for _, s := range list {
					last = append(last, s.made[n])
				}
				follow(t, crew, list, last)
				for i := range list {
					near(t, crew.logits(t, i), want[i][n+1], 5e-5, 5e-5)
				}
			}
			for i, s := range list {
				if !slices.Equal(s.made[:d.n], tokens[i]) {
					t.Errorf("sequence %d: %v, want %v", i, s.made[:d.n], tokens[i])
				}
			}
		})
	}
	hold(long, 2)
	for _, d := range decodings() {
		hold(d, 1, 2, 3, 4)
	}
}

// TestLogits has bf16 follow the reference's tokens: logits stay near, over all positions by the root mean square of
// their errors, and the token is the greatest of them.
func TestLogits(t *testing.T) {
	const most, rms = .5, .05
	for _, d := range decodings() {
		ranks := []int{1, 4}
		if os.Getenv("OVGEN_EXAMPLE") != "" {
			ranks = []int{1, 2, 3, 4}
		}
		d.each(t, device.BF16, ranks, func(t *testing.T, crew Goroutines, list []*sequence, want [][][]float64,
			tokens [][]int) {
			squares := 0.0
			for i, s := range list {
				squares += near(t, crew.logits(t, crew.answer(t, s.read(t, crew, d.most))), want[i][0], most, most)
			}
			for n := range d.n {
				var forced []int
				for i := range list {
					forced = append(forced, tokens[i][n])
				}
				follow(t, crew, list, forced)
				for i, s := range list {
					logits := crew.logits(t, i)
					squares += near(t, logits, want[i][n+1], most, most)
					if best, _ := first(logits); best != s.made[n+1] {
						t.Errorf("token %d, and logits say %d", s.made[n+1], best)
					}
				}
			}
			if off := math.Sqrt(squares / float64(len(list)*(d.n+1))); off > rms {
				t.Errorf("root mean square of all errors is %g, want at most %g", off, rms)
			} else {
				t.Logf("root mean square of all errors is %g", off)
			}
		})
	}
}
