package prove

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
)

// sweep answers what a plain search answers, on random graphs.
func TestSweep(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		n := 1 + random.IntN(700) // several batches
		var from, to []int32
		for i := 1; i < n; i++ {
			for range random.IntN(3) {
				from, to = append(from, int32(random.IntN(i))), append(to, int32(i))
			}
		}
		g := &graph{nodes: make([]node, n), match: make([]int32, n)}
		g.first, g.edges = compress(n, from, to)
		var sources []int32
		for i := range n {
			sources = append(sources, int32(i))
		}
		g.sweep(sources, func(batch []int32, reach []mask) {
			for range 50 {
				b := int32(random.IntN(n))
				before := g.ancestors(b)
				for lane, a := range batch {
					if reach[b].has(lane) != before[a] {
						t.Fatalf("is %d before %d? sweep says %t", a, b, !before[a])
					}
				}
			}
		})
		for range 50 {
			p := pair{int32(random.IntN(n)), int32(random.IntN(n))}
			_, unordered := g.unordered([]pair{p})
			if before := g.ancestors(p.to)[p.from]; before == unordered || before != (g.path(p.from, p.to) != nil) {
				t.Fatalf("is %d before %d? ancestors say %t", p.from, p.to, before)
			}
		}
	}
}

// The order of an eager run holds that of a replay and, across runs, that of its streams.
// The proof for replays holds for eager and mixed runs since these edges are there already;
// and three runs have no orders between the first and the last beyond those that two runs
// have between neighbours.
func TestModesAndRuns(t *testing.T) {
	program, err := lower.Lower("AllGatherLinear", catalog.AllGatherLinear)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []int{2, 5} {
		m, lists, err := Unroll(program, d)
		if err != nil {
			t.Fatal(err)
		}
		p := &proof{graph: build(m, lists, 3, false)}
		for _, check := range checks {
			if c := check(p); c != nil {
				t.Fatal(c)
			}
		}
		type stream struct {
			rank int32
			name string
		}
		last := map[stream]int32{}
		var pairs []pair
		for n, x := range p.nodes {
			if o := p.operation(int32(n)); o != nil {
				s := stream{x.rank, o.Stream}
				if b, ok := last[s]; ok && p.nodes[b].run != x.run {
					pairs = append(pairs, pair{b, int32(n)})
				}
				last[s] = int32(n)
			}
		}
		if len(pairs) != 2*d*(d+1) {
			t.Errorf("%d places where a stream goes on in the next run", len(pairs))
		}
		if w, found := p.unordered(pairs); found {
			t.Errorf("stream order that a replay lacks: %s, %s", p.at(w.from), p.at(w.to))
		}
	}
}

// BenchmarkProve is the cost over ranks and runs, and of a program that is not
// serial-safe when captured.
func BenchmarkProve(b *testing.B) {
	program, err := lower.Lower("AllGatherLinear", catalog.AllGatherLinear)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range []int{2, 4, 8, 16, 32, 72} {
		for _, runs := range []int{2, 4} {
			b.Run(fmt.Sprintf("D=%d/runs=%d", d, runs), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m, lists, err := Unroll(program, d)
					if err != nil {
						b.Fatal(err)
					}
					size, err := Lists(b.Context(), m, lists, runs)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(size.Operations), "operations")
				}
			})
		}
	}
}
