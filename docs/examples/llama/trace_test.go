package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// TestTrace prints where the time of a step that decodes goes, by name, with 8B's sizes, 4 and 16 layers and random
// weights: on 1, 2, 4 and so on to as many GPUs as OVGEN_EXAMPLE_TRACE says.
func TestTrace(t *testing.T) {
	most := number(t, "OVGEN_EXAMPLE_TRACE")
	t.Setenv("OVGEN_DRIVER", "cuda")
	for _, c := range deep(t, 4, 16) {
		dir := t.TempDir()
		writeRandom(t, dir, c)
		for ranks := 1; ranks <= most; ranks *= 2 {
			s := Usual
			s.Ranks, s.Buckets = ranks, []Bucket{{Rows: 1}, {Rows: 16}, {Rows: 64}}
			fmt.Print(trace(t, s.in(dir), c.Layers, 20, []int{15, 2047}))
		}
	}
}

// TestTraceSimulated makes the tables of a small model in the simulator, whose times say nothing.
func TestTraceSimulated(t *testing.T) {
	dir, _ := tiny(t, Tiny)
	s := small
	s.Type, s.Buckets = device.BF16, s.Buckets[:2]
	text := trace(t, s.in(dir), Tiny.Layers, 1, []int{15})
	for _, want := range []string{"1 sequences", "3 sequences", "| embed | 1 |", "| packets | 2 |",
		"| product 96 x 192 | 1 |", "MemcpyHtoD", "GraphLaunch", "wait"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestLaunches counts what a step of few rows launches for each layer. Products and attention alone are five in Llama.
func TestLaunches(t *testing.T) {
	for family, most := range map[string]int{"llama": 8, "qwen2": 8, "qwen3": 12, "gemma2": 9, "gemma3_text": 13} {
		launches(t, small, tinies[family], most)
	}
}

// TestLaunchesOfEight counts those of rows of eight bits: as many.
func TestLaunchesOfEight(t *testing.T) {
	before := mostNarrow
	mostNarrow = 0
	defer func() { mostNarrow = before }()
	s := small
	s.Type, s.Weights = device.BF16, device.E4M3
	launches(t, s, other, 8)
	launches(t, s, tinies["qwen2"], 8)
	launches(t, s, tinies["qwen3"], 12)
}

// launches fails where a layer of a model has more launches than so many.
func launches(t *testing.T, s Spec, c Config, most int) {
	t.Helper()
	dir, _ := tiny(t, c)
	tracers, restore := traces(false, "")
	crew, err := s.in(dir).Start(t.Context())
	restore()
	if err != nil {
		t.Fatal(err)
	}
	for rank, r := range tracers {
		for _, g := range r.graphs[len(r.graphs)-2*slots:] { // the graphs that decode
			_, n, err := byLayer(g.names, make([]float64, len(g.names)), c.Layers)
			if err != nil || n > most {
				t.Errorf("%s, rank %d: %d launches a layer, want at most %d: %v, %v", c.Family, rank, n, most,
					g.names, err)
			}
		}
	}
	if err := crew.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// holding counts the pieces of memory that are allocated and not freed.
type holding struct {
	driver.Decorator
	pieces *atomic.Int64
}

func (h holding) MemAlloc(bytes int64) (driver.Ptr, error) {
	h.pieces.Add(1)
	return h.Driver.MemAlloc(bytes)
}

func (h holding) MemFree(p driver.Ptr) error {
	h.pieces.Add(-1)
	return h.Driver.MemFree(p)
}

// TestFrees has a crew end, which frees the weights, the cache and the activations: a context may outlive the crew.
func TestFrees(t *testing.T) {
	dir, _ := tiny(t, Tiny)
	var pieces atomic.Int64
	before := decorated
	decorated = func(c group.Config) group.Config {
		c.Decorate = func(d driver.Driver) driver.Driver { return holding{driver.Decorator{Driver: d}, &pieces} }
		return c
	}
	crew, err := small.in(dir).Start(t.Context())
	decorated = before
	if err != nil {
		t.Fatal(err)
	}
	if pieces.Load() == 0 {
		t.Error("a crew holds no memory")
	}
	if err := crew.Close(t.Context()); err != nil || pieces.Load() != 0 {
		t.Errorf("a crew that has ended holds %d pieces of memory: %v", pieces.Load(), err)
	}
}

// trace is a table for each bucket and position, of rank 0: medians of so many steps. Of one crew the graphs have an
// event behind each operation, and of another one at both ends alone, which shows what the events cost. A third crew
// does not launch attention: launches overlap, so it shows what attention costs a step.
func trace(t *testing.T, s Spec, layers, rounds int, positions []int) string {
	const attention = "decode"
	bare, all := timed(t, s, false, "", rounds, positions), timed(t, s, true, "", rounds, positions)
	without := timed(t, s, false, attention, rounds, positions)
	var text strings.Builder
	for i, f := range bare {
		rows, launches, err := byLayer(all[i].names, all[i].us, layers)
		if err != nil {
			t.Fatal(err)
		}
		device := f.us[0]
		event := max(0, sum(all[i].us)-device) / float64(len(all[i].us))
		fmt.Fprintf(&text, "\n%d layers, %d ranks, %s: a step takes %.0f us, launched ahead %.0f, and its graph %.0f; "+
			"%d launches a layer; an event takes %.2f us, which is taken off; %s adds %.1f us a layer to the graph\n"+
			"| operation | launches | us each | us |\n|---|---|---|---|\n",
			layers, s.Ranks, f.what, f.step, f.ahead, device, launches, event,
			attention, (device-without[i].us[0])/float64(layers))
		for _, name := range slices.Sorted(maps.Keys(f.host)) {
			fmt.Fprintf(&text, "| host: %s | | | %.1f |\n", name, f.host[name])
		}
		for _, r := range rows {
			us := r.us - event*float64(r.count)
			fmt.Fprintf(&text, "| %s | %d | %.1f | %.1f |\n", r.name, r.count, us/float64(r.count), us)
		}
	}
	return text.String()
}

// figures are the medians of steps of one kind, in us.
type figures struct {
	what  string
	names []string // of the operations of the graph
	us    []float64
	step  float64
	ahead float64            // where each is launched while the one before runs
	host  map[string]float64 // by name
}

// timed has a crew make all steps.
func timed(t *testing.T, s Spec, all bool, without string, rounds int, positions []int) (list []figures) {
	tracers, restore := traces(all, without)
	crew, err := s.Start(t.Context())
	restore()
	if err != nil {
		t.Fatal(err)
	}
	for i, bucket := range s.Buckets {
		for _, position := range positions {
			var b Batch
			for place := range min(bucket.Rows, s.Sequences) {
				b.add(place, place, position)
			}
			f := repeated(t, crew, tracers[0], tracers[0].graphs[slots*(len(s.Buckets)-1-i):][:slots], b, rounds)
			f.what = fmt.Sprintf("%d sequences at position %d", len(b.Rows), position)
			list = append(list, f)
		}
	}
	if err := crew.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return list
}

// repeated is one step again and again, behind one that isn't counted.
func repeated(t *testing.T, crew *Crew, r *tracer, graphs []*traced, b Batch, rounds int) figures {
	took, host, spans := []float64{}, map[string][]float64{}, make([][]float64, len(graphs[0].events)-1)
	rank := crew.Ranks[0].(*Rank)
	crew.Ranks[0] = clocked{rank, r}
	for round := range rounds + 1 {
		clear(r.host)
		began := time.Now()
		step(t, crew, b)
		whole := time.Since(began)
		us := float64(whole) / 1e3
		r.host["goroutines of the ranks"] = whole - r.inRank
		of, err := r.spans(graphs[(rank.launched-1)%slots])
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			continue
		}
		took = append(took, us)
		for i, us := range of {
			spans[i] = append(spans[i], us)
		}
		for name, x := range r.host {
			host[name] = append(host[name], float64(x)/1e3)
		}
	}
	crew.Ranks[0] = rank
	f := figures{names: graphs[0].names, step: median(took), ahead: ahead(t, crew, b, rounds),
		host: map[string]float64{}}
	for _, list := range spans {
		f.us = append(f.us, median(list))
	}
	for name, list := range host {
		f.host[name] = median(list)
	}
	return f
}

func sum(list []float64) (all float64) {
	for _, x := range list {
		all += x
	}
	return all
}
