package served

import (
	"fmt"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
)

// pattern is a graph that the micro-pipelining pass of PyTorch's Inductor was run on, declared by math and placements
// alone, with no way chosen: each collective that is found, or why it is not.
type pattern struct {
	declared
	pass  string   // what becomes of it there
	found []string // tensors that travel, with their ways
	why   string   // it is refused
}

// What the pass does with a pattern.
const (
	finds  = "found"
	misses = "missed"
)

// patterns are the graphs by their numbers.
var patterns = []pattern{
	{declared{"1", "an all-gather and a product", linear("A[M/D K] B[N K] C[M:D N]"), served}, finds,
		[]string{"A Pull"}, ""},
	{declared{"2, 3, 31", "one tensor gathered for three products", linear("A[M/D K] B[N/D K] B2[N2/D K] B3[N3/D K] " +
		"C[M:D N/D] C2[M:D N2/D] C3[M:D N3/D]"), served}, finds, []string{"A Pull"}, ""},
	{declared{"4", "an all-gather along the second of three axes, as rows of the first two", linear(
		"A[M*4/D K] B[N K] C[M*4:D N]"), served}, finds, []string{"A Pull"}, ""},
	{declared{"5, 6", "an all-gather and a product with a bias", linear("A[M/D K] B[N K] Bias[N] C[M:D N]"), served},
		misses, []string{"A Pull"}, ""},
	{declared{"7, 8", "a norm of gathered rows, which are normed before", of("A[M/D K] Norm[K] B[N K] C[M:D N]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.Linear("C", "X", "B")), served}, misses, []string{"X Pull"}, ""},
	{declared{"9", "an all-gather, a cast and a product", of("A[M/D K] B[N K] C[M:D N]",
		s.Copy("X", "A", s.Rounded()), s.Linear("C", "X", "B")).in32("A"), served}, misses, []string{"X Pull"}, ""},
	{declared{"10", "a product and a reduce-scatter", linear("A[M K/D] B[N K/D] C[M/D N]"), served}, finds,
		[]string{"C Slots"}, ""},
	{declared{"13, 32", "the same, a residual and a norm", of("A[M K/D] B[N K/D] R[M/D N] Norm[N] X[M/D N] C[M/D N]",
		s.Linear("X", "A", "B", s.Add("R")), s.Copy("C", "X", s.RMSNorm("Norm"))), served}, finds,
		[]string{"X Slots"}, ""},
	{declared{"11", "a product with a bias and a reduce-scatter", linear("A[M K/D] B[N K/D] Bias[N] C[M/D N]"), served},
		misses, []string{"C Slots"}, ""},
	{declared{"12", "a product with a residual and a reduce-scatter", of("A[M K/D] B[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "B", s.Add("R"))), served}, misses, []string{"C Slots"}, ""},
	{declared{"14", "a product, a cast and a reduce-scatter", of("A[M K/D] B[N K/D] C[M/D N]",
		s.Linear("C", "A", "B")).in32("C"), served}, misses, []string{"C Slots"}, ""},
	{declared{"15", "a product and an all-reduce", linear("A[M K/D] B[N K/D] C[M N]"), served}, misses,
		[]string{"C Slots"}, ""},
	{declared{"16", "an MLP with an all-reduce", mlp("A[M K] B[F/D K] B2[N F/D] C[M N]"), served}, misses,
		[]string{"C Slots"}, ""},
	{declared{"17", "a product that is reduced, and read elsewhere", of("A[M K/D] B[N K/D] P[M N] C[M/D N]",
		s.Linear("P", "A", "B"), s.Copy("C", "P")),
		at("Ops[1]", "C is P as it is: nothing travels")}, misses, nil,
		"partial results have no placement: only their sum is read, by several operations if need be (27)"},
	{declared{"18", "an all-gather of the weight", linear("A[M/D K] B[N/D K] C[M/D N]"), served}, misses,
		[]string{"B Pull"}, ""},
	{declared{"19, 20", "an all-gather and a product of batches", linear("A[4 M/D K] B[4 N K] C[4 M:D N]"),
		at("Tensors[0].Axes", "3 axes where 2 are needed")}, misses, nil,
		"batches of one weight are served (schedule.BatchedLinear); a weight for each batch is a Linear for each"},
	{declared{"21, 22", "an all-gather of K", linear("A[M K/D] B[N K] C[M N]"), served}, finds,
		[]string{"A Pull"}, ""},
	{declared{"23", "a product and a reduce-scatter of columns", linear("A[M K/D] B[N K/D] C[M N/D]"),
		served}, finds, []string{"C Slots"}, ""},
	{declared{"24", "a product and an all-gather of columns", linear("A[M K] B[N/D K] C[M N]"), served}, misses,
		[]string{"C Pull"}, ""},
	{declared{"25", "a gated MLP", of("A[M/D K] B[F/D K] B2[F/D K] B3[N F/D] C[M/D N]", s.Linear("U", "A", "B2"),
		s.Linear("H", "A", "B", s.SwiGLU("U")), s.Linear("C", "H", "B3")), served}, finds,
		[]string{"A Pull", "C Slots"}, ""},
	{declared{"26", "an all-reduce, a residual and a norm", of("A[M K/D] B[N K/D] R[M N] Norm[N] X[M N] C[M N]",
		s.Linear("X", "A", "B", s.Add("R")), s.Copy("C", "X", s.RMSNorm("Norm"))), served}, misses,
		[]string{"X Slots"}, ""},
	{declared{"27", "a block behind attention, across its sums and gathers", form{catalog.BlockBehindAttention},
		served}, finds, []string{"R Slots", "X Pull", "C Slots"}, ""},
	{declared{"28", "an all-to-all from rows to columns", moved("A[M/D N] C[M N/D]"), served}, misses,
		[]string{"A Pull"}, ""},
	{declared{"29", "a gathered tensor transposed", gradient("A[M N] B[M/D K] C[N K]"), served}, misses,
		[]string{"B Pull"}, ""},
	{declared{"30", "a gathered tensor that is read elsewhere", linear("A[M/D K] B[N K] C[M:D N] Gathered[M:D K]"),
		served}, finds, []string{"A Pull"}, ""},
	{declared{"33", "rows that the ranks don't divide, and a reduce-scatter", form{catalog.LinearReduceScatterBalanced},
		served}, misses, []string{"C Slots"}, ""},
	{declared{"f1 to f10", "eight bits", linear("A[M/D K] B[N K] C[M:D N]").types("fp8_e4m3"),
		at("Types[0]", `unknown choice "fp8_e4m3"`)}, finds, nil,
		"products of eight bits come later"},
}

// TestPatterns holds each against what is found: the proof is that of the other tables.
func TestPatterns(t *testing.T) {
	count := map[string]int{}
	for i := range patterns {
		p := &patterns[i]
		if _, err := p.holds(t); err != nil {
			t.Errorf("%s, %s: %v", p.id, p.what, err)
			continue
		}
		count[fmt.Sprintf("%s there, %s here", p.pass, p.outcome)]++
		if (p.why == "") != (p.path == "") {
			t.Errorf("%s, %s: the table does not say why it is refused, or says so of one that is served", p.id, p.what)
		}
		if p.path != "" {
			t.Logf("%s, %s: %s there, refused here: %s", p.id, p.what, p.pass, p.why)
			continue
		}
		made, err := lower.Lower("X", p.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, m := range made.Schedule.Moves {
			found = append(found, m.Of+" "+s.WayName(m.Way))
		}
		if got, want := strings.Join(found, ", "), strings.Join(p.found, ", "); got != want {
			t.Errorf("%s, %s: found %s, want %s", p.id, p.what, got, want)
		}
	}
	t.Logf("%d patterns: %v", len(patterns), count)
}
