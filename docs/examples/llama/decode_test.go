package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"ovgen/runtime/device"
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

// ranks are those of a crew of this process.
type ranks []*Rank

// here are the crew's ranks, if they are in this process.
func (c *Crew) here() (all ranks) {
	for _, s := range c.Ranks {
		if r, ok := s.(*Rank); ok {
			all = append(all, r)
		}
	}
	return all
}

// logits are one row of the last step, with the parts of all ranks.
func (all ranks) logits(t *testing.T, answer int) (list []float64) {
	for _, r := range all {
		raw := make([]byte, 4*(r.Tokens-r.Padding))
		if err := r.driver.MemcpyDtoH(raw, r.logits+device.Ptr(4*answer*r.Tokens)); err != nil {
			t.Fatal(err)
		}
		list = append(list, floats(raw)...)
	}
	return list
}

// floats are the numbers of fp32 in memory.
func floats(raw []byte) (list []float64) {
	for ; len(raw) > 0; raw = raw[4:] {
		list = append(list, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
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

// sequence is a prompt with the tokens that a crew makes behind it.
type sequence struct {
	number       int // in the cache
	prompt, made []int
}

// read puts the prompt into the cache by steps of so many rows, and returns how many the last one had.
func (s *sequence) read(t *testing.T, crew *Crew, most int) (rows int) {
	t.Helper()
	for from := 0; from < len(s.prompt); from += most {
		b := Batch{Prompt: true}
		for p := from; p < min(from+most, len(s.prompt)); p++ {
			b.Add(s.prompt[p], s.number, p)
		}
		s.made, rows = []int{int(step(t, crew, b)[0].Token)}, len(b.Tokens)
	}
	return rows
}

// answer is the row of logits behind a prompt whose last step had so many rows.
func (all ranks) answer(t *testing.T, rows int) int {
	for _, b := range all[0].buckets {
		if b.prompt && b.rows >= rows {
			_, answers := b.input(all[0], Batch{Tokens: make([]int32, rows)})
			return answers[0]
		}
	}
	t.Fatalf("no bucket has %d rows", rows)
	return 0
}

func step(t *testing.T, crew *Crew, b Batch) []Best {
	t.Helper()
	next, err := crew.Step(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// bounds limit the errors of logits, in standard deviations of the reference's logits.
type bounds struct {
	most float64 // of one logit
	row  float64 // root mean square of one row
	all  float64 // root mean square of all rows
}

// exact are the bounds in fp32, and rough those in bf16.
var exact, rough = bounds{5e-5, 5e-5, 5e-5}, bounds{most: .5, row: .5, all: .05}

// near holds a row of logits against the reference's, and returns the mean square of the errors.
func near(t *testing.T, got, want []float64, b bounds) float64 {
	t.Helper()
	unit, worst, squares := spread(want), 0.0, 0.0
	for i, x := range want {
		e := math.Abs(got[i]-x) / unit
		worst, squares = max(worst, e), squares+e*e
	}
	squares /= float64(len(want))
	if len(got) != len(want) || !(worst <= b.most) || !(math.Sqrt(squares) <= b.row) {
		t.Errorf("%d logits, off by up to %g (rms %g) standard deviations", len(got), worst, math.Sqrt(squares))
	}
	return squares
}

// decoding is a model with prompts, options of a crew, and how many tokens follow.
type decoding struct {
	c       Config
	prompts []int // tokens of each
	n       int   // tokens to make
	most    int   // rows of a step that reads a prompt
	o       Options

	processes bool
}

// decodings are short; make example has longer ones.
func decodings() []decoding {
	list := []decoding{
		{c: Tiny, prompts: []int{20}, n: 8, most: 16, o: small}, // 16 rows that are spread, and 4 that are not
	}
	if os.Getenv("OVGEN_EXAMPLE") != "" {
		list = append(list, long, decoding{c: Tiny, prompts: []int{65, 1, 3, 130}, n: 64, most: 130,
			o: Options{Sequences: 4, Room: 320, Many: 64, Prefill: []int{1, 16, 130}, Decode: []int{1, 2, 4}}})
	}
	return list
}

// long has more context than a block of the kernels takes, tiles that are not full, and a row that fills a bucket.
var long = decoding{c: other, prompts: []int{270, 5}, n: 2, most: 256,
	o: Options{Sequences: 3, Room: 320, Many: 100, Prefill: []int{8, 70, 256}, Decode: []int{3}}}

// hold decodes on numbers of ranks, and feeds the reference's tokens. Logits must be near the reference's, and in fp32
// the crew must make the reference's tokens.
func (d decoding) hold(t *testing.T, typ device.Type, numbers []int, b bounds) {
	d.o.Type = typ
	dir, weights := tiny(t, d.c)
	var tokens [][]int
	var logits [][][]float64
	for i, n := range d.prompts {
		made, l := greedy(t, d.c, weights, prompt(n, seed+uint64(i)), d.n)
		tokens, logits = append(tokens, made), append(logits, l)
	}
	for _, n := range numbers {
		name := fmt.Sprint(d.prompts, " ", typ, " on ", n, " ranks")
		if d.o.NCCL {
			name += " by NCCL"
		}
		if d.processes {
			name += " by processes"
		}
		t.Run(name, func(t *testing.T) {
			crew, err := Spec{Model: dir, Ranks: n, Processes: d.processes, Options: d.o}.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			d.follow(t, crew, tokens, logits, b)
			if err := crew.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// follow is hold for one crew. Other processes' logits cannot be read: their tokens alone are compared.
func (d decoding) follow(t *testing.T, crew *Crew, tokens [][]int, logits [][][]float64, b bounds) {
	here := crew.here()
	readable := here != nil
	var list []*sequence
	squares := 0.0
	for i, n := range d.prompts {
		s := &sequence{number: i, prompt: prompt(n, seed+uint64(i))}
		if rows := s.read(t, crew, d.most); readable {
			squares += near(t, here.logits(t, here.answer(t, rows)), logits[i][0], b)
		}
		list = append(list, s)
	}
	for n := range d.n {
		var rows Batch
		for i, s := range list {
			rows.Add(tokens[i][n], s.number, len(s.prompt)+n)
		}
		for i, x := range step(t, crew, rows) {
			token := int(x.Token)
			list[i].made = append(list[i].made, token)
			if !readable {
				continue
			}
			got := here.logits(t, i)
			squares += near(t, got, logits[i][n+1], b)
			if best, _ := first(got); best != token {
				t.Errorf("token %d, and logits say %d", token, best)
			}
		}
	}
	if off := math.Sqrt(squares / float64(len(list)*(d.n+1))); readable && off > b.all {
		t.Errorf("root mean square of all errors is %g, want at most %g", off, b.all)
	} else if readable {
		t.Logf("root mean square of all errors is %g", off)
	}
	for i, s := range list {
		same := 0
		for n, token := range tokens[i] {
			if s.made[n] == token {
				same++
			}
		}
		t.Logf("sequence %d: %d of %d tokens are the reference's", i, same, d.n)
		if d.o.Type == device.FP32 && same != d.n {
			t.Errorf("sequence %d: %v, want %v", i, s.made, tokens[i])
		}
	}
}

// TestTokens decodes in fp32: whatever the ranks, whoever carries between them, and whatever else is decoded at the
// same time, logits are near those of the reference in float64, and all tokens its tokens.
func TestTokens(t *testing.T) {
	long.hold(t, device.FP32, []int{2}, exact)
	for _, d := range decodings() {
		d.hold(t, device.FP32, []int{1, 2, 3, 4}, exact)
		d.o.NCCL = true
		d.hold(t, device.FP32, []int{2}, exact)
	}
}

// TestTie has equal logits of all tokens: the lowest one wins, on a rank and over ranks, and none that only fills the
// vocabulary up.
func TestTie(t *testing.T) {
	weights, dir := Random(Tiny, seed), t.TempDir()
	weights["lm_head.weight"] = Array{weights["lm_head.weight"].Shape, []float32{0}}
	if err := WriteCheckpoint(dir, Tiny, weights); err != nil {
		t.Fatal(err)
	}
	crew, err := Spec{Model: dir, Ranks: 2, Options: small}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows Batch
	for i := range small.Sequences {
		rows.Add(i, i, 0)
	}
	for _, best := range step(t, crew, rows) {
		if best != (Best{0, 0}) {
			t.Errorf("the best of equal logits is %+v", best)
		}
	}
	if err := crew.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for _, x := range [][]Best{{{1, 8}, {1, 4}, {0, 2}}, {{1, 4}, {0, 2}, {1, 8}}} {
		var all []Stepper
		for _, best := range x {
			all = append(all, always{best})
		}
		if got := step(t, &Crew{Ranks: all}, rows); got[0].Token != 4 {
			t.Errorf("of %v token %d wins", x, got[0].Token)
		}
	}
}

// always is a rank with one answer.
type always struct{ best Best }

func (a always) Step(context.Context, Batch) ([]Best, error) { return []Best{a.best}, nil }

// TestLogits decodes in bf16: each token is the greatest of logits that are near the reference's.
func TestLogits(t *testing.T) {
	ranks := []int{1, 4}
	if os.Getenv("OVGEN_EXAMPLE") != "" {
		ranks = []int{1, 2, 3, 4}
	}
	for _, d := range decodings() {
		d.hold(t, device.BF16, ranks, rough)
	}
}
