package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"ovgen/runtime/device"
	"ovgen/verify/sampling"
)

const seed = 1

// small has buckets in which few rows of a prompt are not spread, and more are.
var small = Spec{Ranks: 2, Type: device.FP32, Sequences: 3, Room: 128, Buckets: []Bucket{{Rows: 1}, {Rows: 4},
	{Rows: 4, Prompt: true}, {16, true, true}}}

// other is a model with heads that are wider than their share, three heads of keys, which two ranks share, a tied head,
// the plain rotary embedding and a large epsilon.
var other = Config{
	Family: "llama", Vocabulary: 259, Hidden: 96, Intermediate: 192, Layers: 2, Heads: 12, KeyHeads: 3, HeadSize: 16,
	Positions: 512, Epsilon: 1e-2, Theta: 10000, Tied: true,
}

// tiny writes a model of random weights.
func tiny(t *testing.T, c Config) (dir string, weights map[string]Array) {
	dir, weights = t.TempDir(), Random(c, seed)
	if err := WriteCheckpoint(dir, c, weights); err != nil {
		t.Fatal(err)
	}
	return dir, weights
}

// in is the Spec of a model in a folder.
func (s Spec) in(dir string) Spec {
	s.Dir = dir
	return s
}

// readable reports whether the crew's logits can be read: its ranks are in this process.
func (c *Crew) readable() bool {
	_, here := c.Ranks[0].(*Rank)
	return here
}

// logits are one row of the last step, with the parts of all ranks, and their cap.
func (c *Crew) logits(t *testing.T, row int) (list []float64) {
	for _, s := range c.Ranks {
		r := s.(*Rank)
		raw := make([]byte, 4*r.params.Tokens)
		if err := r.driver.MemcpyDtoH(raw, r.params.Logits+device.Ptr(4*row*r.params.Columns)); err != nil {
			t.Fatal(err)
		}
		for _, x := range floats(raw) {
			list = append(list, capped(x, r.LogitCap)) // which the device leaves out
		}
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
	return newReference(c, weights).greedy(t, prompt, n)
}

func (m *reference) greedy(t *testing.T, prompt []int, n int) (tokens []int, logits [][]float64) {
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

// read puts all tokens of the prompt but the last into the cache by steps of so many rows, and makes the next token.
func (s *sequence) read(t *testing.T, crew *Crew, most int) {
	t.Helper()
	last := len(s.prompt) - 1
	for from := 0; from < last; from += most {
		b := Batch{Prompt: true}
		for p := from; p < min(from+most, last); p++ {
			b.add(s.prompt[p], s.number, p)
		}
		step(t, crew, b)
	}
	var b Batch
	b.add(s.prompt[last], s.number, last)
	s.made = []int{int(step(t, crew, b)[0].Token)}
}

// add adds a row.
func (b *Batch) add(token, sequence, position int) {
	b.Rows = append(b.Rows, Row{Token: int32(token), Sequence: int32(sequence), Position: int32(position)})
}

// Step is Launch and Wait.
func (c *Crew) Step(rows Batch) ([]Best, error) {
	if err := c.Launch(rows); err != nil {
		return nil, err
	}
	return c.Wait()
}

func step(t *testing.T, crew *Crew, b Batch) []Best {
	t.Helper()
	next, err := crew.Step(b)
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

// exact are the bounds in fp32, and rough the ones in bf16.
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

// decoding is a model with prompts, how its ranks decode, and how many tokens follow.
type decoding struct {
	c       Config
	prompts []int // tokens of each
	n       int   // tokens to make
	most    int   // rows of a step that reads a prompt
	s       Spec
}

// prompt is one of the prompts, of the model's tokens.
func (d decoding) prompt(i int) (tokens []int) {
	for _, token := range prompt(d.prompts[i], seed+uint64(i)) {
		tokens = append(tokens, token%d.c.Vocabulary)
	}
	return tokens
}

// decodings are short; make example has longer ones.
func decodings() []decoding {
	list := []decoding{
		{c: Tiny, prompts: []int{21}, n: 8, most: 16, s: small}, // 16 rows that are spread, and 4 that are not
	}
	if os.Getenv("OVGEN_EXAMPLE") != "" {
		list = append(list, long, decoding{c: Tiny, prompts: []int{66, 1, 3, 130}, n: 64, most: 130,
			s: Spec{Sequences: 4, Room: 320, Buckets: []Bucket{{Rows: 1}, {Rows: 2}, {Rows: 4},
				{Rows: 1, Prompt: true}, {Rows: 16, Prompt: true}, {130, true, true}}}})
	}
	return list
}

// long has more context than a block of the kernels takes, tiles that are not full, and a row that fills a bucket.
var long = decoding{c: other, prompts: []int{271, 6}, n: 2, most: 256, s: Spec{Sequences: 3, Room: 320,
	Buckets: []Bucket{{Rows: 3}, {Rows: 8, Prompt: true}, {Rows: 70, Prompt: true}, {256, true, true}}}}

// hold decodes on numbers of ranks, and feeds the reference's tokens. Logits must be near the reference's, and in fp32
// the crew must make the reference's tokens.
func (d decoding) hold(t *testing.T, typ device.Type, numbers []int, b bounds) {
	d.s.Type = typ
	dir, weights := tiny(t, d.c)
	d.holdIn(t, dir, weights, numbers, b)
}

// holdIn is hold for a checkpoint in a folder, against other weights.
func (d decoding) holdIn(t *testing.T, dir string, weights map[string]Array, numbers []int, b bounds) {
	var tokens [][]int
	var logits [][][]float64
	for i := range d.prompts {
		made, l := greedy(t, d.c, weights, d.prompt(i), d.n)
		tokens, logits = append(tokens, made), append(logits, l)
	}
	for _, n := range numbers {
		d.on(t, n, dir, tokens, logits, b)
	}
}

// on is holdIn on a number of ranks, against a reference's tokens and logits.
func (d decoding) on(t *testing.T, ranks int, dir string, tokens [][]int, logits [][][]float64, b bounds) {
	name := fmt.Sprint(d.prompts, " ", d.s.Type, " on ", ranks, " ranks")
	if os.Getenv(envNCCL) != "" {
		name += " by NCCL"
	}
	if d.s.Processes {
		name += " by processes"
	}
	t.Run(name, func(t *testing.T) {
		d.s.Ranks = ranks
		crew, err := d.s.in(dir).Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d.follow(t, crew, tokens, logits, b)
		if err := crew.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// follow is hold for one crew. Other processes' logits cannot be read: their tokens alone are compared.
func (d decoding) follow(t *testing.T, crew *Crew, tokens [][]int, logits [][][]float64, b bounds) {
	var list []*sequence
	squares := 0.0
	for i := range d.prompts {
		s := &sequence{number: i, prompt: d.prompt(i)}
		if s.read(t, crew, d.most); crew.readable() {
			squares += near(t, crew.logits(t, 0), logits[i][0], b)
		}
		list = append(list, s)
	}
	for n := range d.n {
		var rows Batch
		for i, s := range list {
			rows.add(tokens[i][n], s.number, len(s.prompt)+n)
		}
		for i, x := range step(t, crew, rows) {
			token := int(x.Token)
			list[i].made = append(list[i].made, token)
			if !crew.readable() {
				continue
			}
			got := crew.logits(t, i)
			squares += near(t, got, logits[i][n+1], b)
			if best, _ := first(got); best != token {
				t.Errorf("token %d, and logits say %d", token, best)
			}
		}
	}
	if off := math.Sqrt(squares / float64(len(list)*(d.n+1))); crew.readable() && off > b.all {
		t.Errorf("root mean square of all errors is %g, want at most %g", off, b.all)
	} else if crew.readable() {
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
		if d.s.Type == device.FP32 && same != d.n {
			t.Errorf("sequence %d: %v, want %v", i, s.made, tokens[i])
		}
	}
}

// TestTokens decodes in fp32: whatever the ranks, whoever carries between them, and whatever else is decoded at the
// same time, logits are near those of the reference in float64, and all tokens its tokens.
func TestTokens(t *testing.T) {
	odd := decodings()[0]
	odd.c.Layers = 3 // packets of a step that is over are in the other half of their memory
	odd.hold(t, device.FP32, []int{2}, exact)
	long.hold(t, device.FP32, []int{2}, exact)
	for _, d := range decodings() {
		d.hold(t, device.FP32, []int{1, 2, 3, 4}, exact)
		t.Setenv(envNCCL, "1")
		d.hold(t, device.FP32, []int{2}, exact)
		t.Setenv(envNCCL, "")
	}
}

// inTurn is one of some numbers of ranks, another one for each further case; where OVGEN_SOAK is set, and on GPUs, all.
func inTurn(number int, ranks ...int) []int {
	if sampling.All() || os.Getenv("OVGEN_DRIVER") == "cuda" {
		return ranks
	}
	number %= len(ranks)
	return ranks[number : number+1]
}

// others are the decodings of other families' models.
func others() []decoding {
	var list []decoding
	wide, odd := tinies["gemma2"], tinies["gemma3_text"] // heads of two parts of registers, whole and not
	wide.HeadSize, odd.HeadSize = 256, 136
	for _, c := range []Config{tinies["qwen2"], tinies["qwen3"], tinies["gemma2"], tinies["gemma3_text"], wide, odd} {
		list = append(list, decoding{c: c, prompts: []int{21, 5}, n: 4, most: 16, s: small})
	}
	return list
}

// TestFamilies decodes with the models of other families: in fp32 all tokens are the reference's, which has those of
// transformers, and in bf16 logits are near its, of every second family or, where OVGEN_SOAK is set, of each.
func TestFamilies(t *testing.T) {
	sampling.Test(t, 0, 4)
	for i, d := range others() {
		t.Run(fmt.Sprint(d.c.Family, " ", d.c.HeadSize), func(t *testing.T) {
			d.hold(t, device.FP32, inTurn(i, 2, 4, 1), exact)
			if i%2 == 0 || len(inTurn(0, 1, 2)) > 1 {
				d.hold(t, device.BF16, []int{2}, rough)
			}
		})
	}
}

// TestTie has equal logits of all tokens: the lowest one wins, on a rank and over ranks, and none that only fills the
// vocabulary up; also for the device, which feeds it to the next step.
func TestTie(t *testing.T) {
	weights, dir, c := Random(Tiny, seed), t.TempDir(), Tiny
	weights["lm_head.weight"] = Array{Shape: weights["lm_head.weight"].Shape, Data: []float32{0}}
	c.Layers = 1 // which leaves the rows that it reads
	if err := WriteCheckpoint(dir, c, weights); err != nil {
		t.Fatal(err)
	}
	crew, err := small.in(dir).Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows Batch
	for i := range small.Sequences {
		rows.add(i, i, 0)
	}
	for _, best := range step(t, crew, rows) {
		if best != (Best{}) {
			t.Errorf("the best of equal logits is %+v", best)
		}
	}
	var ahead Batch
	ahead.add(int(Choice(0, 1)), 0, 1)
	step(t, crew, ahead)
	for _, s := range crew.Ranks {
		r := s.(*Rank)
		raw := make([]byte, 4*c.Hidden)
		if err := r.driver.MemcpyDtoH(raw, r.first.rows); err != nil {
			t.Fatal(err)
		}
		for i, x := range floats(raw) {
			if want := weights["model.embed_tokens.weight"].Data[i]; x != float64(want) {
				t.Fatalf("rank %d is fed another token than 0: element %d is %g, want %g", r.rank, i, x, want)
			}
		}
	}
	if err := crew.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

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
