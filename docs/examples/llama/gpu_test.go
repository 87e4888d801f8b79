package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/verify/sampling"
)

// TestOnGPUs decodes on 1 to OVGEN_EXAMPLE_GPUS GPUs, in one process and by processes. Of one process it compares the
// logits, and of processes the tokens; and of servers, whose steps are launched ahead.
func TestOnGPUs(t *testing.T) {
	most := number(t, "OVGEN_EXAMPLE_GPUS")
	t.Setenv("OVGEN_DRIVER", "cuda")
	var numbers []int
	for n := range most {
		numbers = append(numbers, n+1)
	}
	for _, d := range append(decodings(), long) {
		d.hold(t, device.FP32, numbers, exact)
		d.hold(t, device.BF16, numbers, rough)
		d.s.Processes = true
		d.hold(t, device.FP32, numbers[most-1:], exact)
		d.s.Processes = false
		t.Setenv(envNCCL, "1")
		d.hold(t, device.FP32, numbers[most-1:], exact)
		t.Setenv(envNCCL, "")
	}
	// Their heads can't be cut in three, and their layers are by ovgen's ways alone.
	numbers = slices.DeleteFunc([]int{1, 2, 4}, func(n int) bool { return n > most })
	for _, d := range others() {
		d.hold(t, device.FP32, numbers, exact)
		d.hold(t, device.BF16, numbers, rough)
		d.s.Processes = true
		d.hold(t, device.FP32, numbers[len(numbers)-1:], exact)
	}
	answered(t, numbers)
}

// TestLostDevice has a kernel read where no memory is, on as many GPUs as OVGEN_EXAMPLE_GPUS says. The context of one
// rank is lost: all ranks get an error, and the next crew of this process makes tokens.
func TestLostDevice(t *testing.T) {
	s := small
	s.Ranks = number(t, "OVGEN_EXAMPLE_GPUS")
	t.Setenv("OVGEN_DRIVER", "cuda")
	dir, _ := tiny(t, Tiny)
	for i := range 2 {
		crew, err := s.in(dir).Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var good, bad Batch
		good.add(1, 0, 0)
		bad.add(math.MaxInt32, 0, 0)
		step(t, crew, good)
		if i == 0 {
			_, err := crew.Step(bad)
			t.Log(err)
			if err == nil {
				t.Error("a token far outside of the vocabulary is no error")
			}
			t.Log(crew.Close(t.Context()))
		} else if err := crew.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// number is how many GPUs a variable says; without it the test is skipped.
func number(t *testing.T, variable string) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		t.Skip(variable + " is not set")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want a number of GPUs", variable, text)
	}
	return n
}

// large has the sizes of an 8B model, but for its layers.
var large = Config{Vocabulary: 128256, Hidden: 4096, Intermediate: 14336, Layers: 4, Heads: 32, KeyHeads: 8,
	HeadSize: 128, Family: "llama", Positions: 8192, Epsilon: 1e-5, Theta: 500000}

// deep are models of large's sizes with the given numbers of layers or, if OVGEN_EXAMPLE_LAYERS is set, with so many.
func deep(t *testing.T, layers ...int) (list []Config) {
	const variable = "OVGEN_EXAMPLE_LAYERS"
	if os.Getenv(variable) != "" {
		layers = []int{number(t, variable)}
	}
	for _, n := range layers {
		c := large
		c.Layers = n
		list = append(list, c)
	}
	return list
}

// TestDeep: the variable wins over the numbers that are given.
func TestDeep(t *testing.T) {
	for text, want := range map[string][]int{"": {4, 16}, "16": {16}} {
		t.Setenv("OVGEN_EXAMPLE_LAYERS", text)
		var got []int
		for _, c := range deep(t, 4, 16) {
			got = append(got, c.Layers)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v layers, want %v", text, got, want)
		}
	}
}

// TestSpeed prints what steps take on so many GPUs as OVGEN_EXAMPLE_SPEED says, a process each, by ovgen's ways and by
// NCCL, with models of random weights, which it writes to a temporary folder.
func TestSpeed(t *testing.T) {
	ranks := number(t, "OVGEN_EXAMPLE_SPEED")
	s := Usual
	s.Ranks, s.Buckets = ranks, []Bucket{{Rows: 1}, {Rows: 16}, {Rows: 64}, {Rows: 128, Prompt: true},
		{2048, true, true}}
	t.Setenv("OVGEN_DRIVER", "cuda")
	for _, c := range deep(t, large.Layers) {
		dir := t.TempDir()
		writeRandom(t, dir, c)
		t.Logf("%d layers on %d GPUs, %v\n%s", c.Layers, ranks, s.Type,
			compared(t, s.in(dir), carriers, 30, []int{15, 2047}))
	}
}

// TestEightOnGPUs decodes by weights of eight bits on 1 to OVGEN_EXAMPLE_EIGHT GPUs, and compares with the reference.
// On as many GPUs it times steps of 8B's sizes with random weights, by weights of eight bits and of bf16.
func TestEightOnGPUs(t *testing.T) {
	ranks, dir := number(t, "OVGEN_EXAMPLE_EIGHT"), t.TempDir()
	t.Setenv("OVGEN_DRIVER", "cuda")
	eights(t, ranks)
	eightRows(t, ranks)
	for _, family := range []string{"llama", "qwen2", "qwen3"} {
		squares(t, wide(family, 1), []int{1, 2}[:min(ranks, 2)]...) // more can't cut it
	}
	writeRandom(t, dir, large)
	s := Usual
	s.Ranks, s.Buckets = ranks, []Bucket{{Rows: 1}, {Rows: 4}, {Rows: 8}, {Rows: 16}, {Rows: 24}, {Rows: 32},
		{Rows: 48}, {Rows: 64}, {Rows: 64, Prompt: true}, {Rows: 128, Prompt: true}, {Rows: 256, Prompt: true},
		{512, true, true}}
	t.Logf("%d layers on %d GPUs, %v\n%s", large.Layers, ranks, s.Type,
		compared(t, s.in(dir), widths, 30, []int{15, 2047}))
	s.Sequences, s.Buckets = 1, []Bucket{{Rows: 1}, {1024, true, true}, {2048, true, true}}
	t.Logf("spread over the ranks\n%s", compared(t, s.in(dir), []side{widths[0], widths[2]}, 30, []int{15}))
}

// TestWays compares bits in bf16 between starts, with 8B's sizes but fewer layers and tokens, on so many GPUs as
// OVGEN_EXAMPLE_WAYS says.
func TestWays(t *testing.T) {
	ranks := number(t, "OVGEN_EXAMPLE_WAYS")
	dir := t.TempDir()
	c := large
	c.Layers, c.Vocabulary = 2, 32000
	writeRandom(t, dir, c)
	t.Setenv("OVGEN_DRIVER", "cuda")
	ways(t, Spec{Dir: dir, Ranks: ranks, Sequences: 16, Room: 256, Buckets: []Bucket{{Rows: 16},
		{Rows: 64, Prompt: true}}}, 24)
}

// TestWaysSimulated is TestWays of a small model in the simulator.
func TestWaysSimulated(t *testing.T) {
	dir, _ := tiny(t, Tiny)
	s := small.in(dir)
	s.Buckets = []Bucket{{Rows: 3}, {Rows: 4, Prompt: true}}
	ways(t, s, 2)
}

// ways feeds the tokens of a crew in fp32 to crews in bf16. Their logits must be near those in fp32, and all crews must
// have equal bits, whether their ranks are goroutines or processes, since they have one cache of tuned products. One
// that tunes anew may choose other products, and so round otherwise.
func ways(t *testing.T, s Spec, n int) {
	s.Type = device.FP32
	t.Setenv("OVGEN_CACHE", t.TempDir())
	want, logits := follow(t, s, nil, n)
	var first [][]Best
	s.Type = device.BF16
	t.Setenv("OVGEN_CACHE", t.TempDir())
	for _, x := range []struct {
		name      string
		processes bool
	}{
		{"goroutines that tune", false},
		{"goroutines", false},
		{"processes", true},
	} {
		s.Processes = x.processes
		got, near16 := follow(t, s, want, n)
		same, equal, squares := 0, 0, 0.0
		for i := range got {
			for k, y := range got[i] {
				unit := spread(logits[i][k])
				off := (float64(y.Logit) - logits[i][k][y.Token]) / unit
				squares += off * off
				if !(math.Abs(off) <= rough.most) {
					t.Errorf("%s: a logit is off by %g standard deviations", x.name, off)
				}
				if near16[i][k] != nil {
					near(t, near16[i][k], logits[i][k], rough)
				}
				if y.Token == want[i][k].Token {
					same++
				}
				if first == nil || y == first[i][k] {
					equal++
				}
			}
		}
		all := len(got) * s.Sequences
		t.Logf("%s: of %d tokens %d are those in fp32, and %d have the first crew's bits; logits are off by %g",
			x.name, all, same, equal, math.Sqrt(squares/float64(all)))
		if equal != all {
			t.Errorf("%s: other bits, by the same products", x.name)
		}
		if first == nil {
			first = got
		}
	}
}

// follow has a crew read a prompt for each place, and decode n steps. Each step's input is the last tokens of fed, or
// without fed the crew's. It returns the best tokens of each step, and all logits if they can be read.
func follow(t *testing.T, s Spec, fed [][]Best, n int) (made [][]Best, logits [][][]float64) {
	crew, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, last := s.most(true), make([]Best, s.Sequences)
	for i := range last {
		b := Batch{Prompt: true}
		for at, token := range prompt(rows, uint64(i)) {
			b.add(token, i, at)
		}
		step(t, crew, b)
	}
	for at := range n {
		var b Batch
		for i, x := range last {
			b.add(int(x.Token), i, rows+at)
		}
		last = step(t, crew, b)
		made, logits = append(made, last), append(logits, make([][]float64, s.Sequences))
		for i := range last {
			if crew.readable() {
				logits[at][i] = crew.logits(t, i)
			}
		}
		if fed != nil {
			last = fed[at]
		}
	}
	if err := crew.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return made, logits
}

// TestCompared makes the table of TestSpeed of a small model in the simulator, whose times say nothing: of two buckets
// or, where OVGEN_SOAK is set, of all.
func TestCompared(t *testing.T) {
	sampling.Test(t, 2, 4)
	dir, _ := tiny(t, Tiny)
	t.Setenv("OVGEN_DRIVER", "sim")
	s := small.in(dir)
	if !sampling.All() {
		s.Buckets = slices.Concat(s.Buckets[1:2], s.Buckets[3:]) // steps and prompts
	}
	buckets := s.Buckets
	table := compared(t, s, carriers, 1, []int{15})
	if rows := strings.Count(table, "\n"); rows != 2+len(buckets) {
		t.Errorf("%d rows:\n%s", rows, table)
	}
	dir, _ = tiny(t, other)
	s = small.in(dir)
	s.Type, s.Buckets = device.BF16, buckets
	table = compared(t, s, widths, 1, []int{15})
	if cells := strings.Count(table, "|"); cells != (2+len(buckets))*(2+2*len(widths)) {
		t.Errorf("%d cells:\n%s", cells, table)
	}
}

// ahead launches n + 1 equal steps, each while the one before runs, as a server does. It returns the us from the end of
// a step to the end of the next, the mean of n.
func ahead(t *testing.T, crew *Crew, b Batch, n int) float64 {
	var ended time.Time
	err := crew.Launch(b)
	for i := range n + 1 {
		if i < n {
			err = errors.Join(err, crew.Launch(b))
		}
		_, failed := crew.Wait()
		if err = errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			ended = time.Now()
		}
	}
	return float64(time.Since(ended)) / 1e3 / float64(n)
}

// side is one of the crews that are compared.
type side struct {
	name, nccl string
	weights    device.Type
	narrow     string // mostNarrow, where it is another
}

// carriers are ovgen's ways and NCCL's collectives, and widths are weights of 16 bits, of eight for rows of 16, and of
// eight for rows of eight.
var (
	carriers = []side{{name: "ovgen"}, {name: "NCCL", nccl: "1"}}
	widths   = []side{{name: "16 bits"}, {name: "weights of 8", weights: device.E4M3, narrow: "always"},
		{name: "rows of 8 too", weights: device.E4M3, narrow: "never"}}
)

// envNarrow changes mostNarrow for ranks that are other processes: always, or never.
const envNarrow = "OVGEN_TEST_NARROW"

func init() {
	switch os.Getenv(envNarrow) {
	case "always":
		mostNarrow = math.MaxInt
		for name, f := range families {
			f.eight.many = nil
			families[name] = f
		}
	case "never":
		mostNarrow = 0
	}
}

// compared is a table of the steps of crews: medians of so many rounds, in each of which all crews step. Rows that
// decode have a position each.
func compared(t *testing.T, s Spec, sides []side, rounds int, positions []int) string {
	crews := make([]*Crew, len(sides))
	s.Processes = true
	for i, x := range sides {
		t.Setenv(envNCCL, x.nccl)
		t.Setenv(envNarrow, x.narrow)
		s.Weights = x.weights
		var err error
		if crews[i], err = s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var table strings.Builder
	table.WriteString("| step |")
	for _, x := range sides {
		fmt.Fprintf(&table, " %s, ms | tokens/s |", x.name)
	}
	table.WriteString("\n|---|" + strings.Repeat("---|---|", len(sides)) + "\n")
	times := func(what string, b Batch) {
		ms := make([][]float64, len(crews))
		for round := range rounds {
			for k := range crews {
				i := (round + k) % len(crews)
				ms[i] = append(ms[i], ahead(t, crews[i], b, 8)/1e3)
			}
		}
		fmt.Fprintf(&table, "| %s |", what)
		for _, list := range ms {
			slices.Sort(list)
			fmt.Fprintf(&table, " %.2f | %.0f |", list[rounds/2], float64(len(b.Rows))/list[rounds/2]*1e3)
		}
		table.WriteString("\n")
	}
	for _, x := range s.Buckets {
		for _, position := range positions {
			b := Batch{Prompt: x.Prompt}
			if x.Prompt {
				for p := range x.Rows {
					b.add(p%256, 0, p)
				}
				times(fmt.Sprint("prompt of ", x.Rows), b)
				break
			}
			for i := range min(x.Rows, s.Sequences) {
				b.add(i, i, position)
			}
			times(fmt.Sprintf("decode %d at position %d", x.Rows, position), b)
		}
	}
	for _, crew := range crews {
		if err := crew.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	return table.String()
}

// writeRandom writes a checkpoint in which every tensor repeats the same random numbers.
func writeRandom(t *testing.T, dir string, c Config) {
	source, block := rand.New(rand.NewPCG(seed, 2)), make([]float32, 1<<19)
	for i := range block {
		block[i] = float32(.02 * source.NormFloat64())
	}
	weights := map[string]Array{}
	for name, shape := range c.tensors() {
		weights[name] = Array{Shape: shape, Data: block}
	}
	if err := WriteCheckpoint(dir, c, weights); err != nil {
		t.Fatal(err)
	}
}
