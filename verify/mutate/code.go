package mutate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// CodeMutant is one textual bug in a file of the module, with the tests that must notice it.
type CodeMutant struct {
	File, Text string // below the root of the module; the change
	Old, New   string // Old occurs once in the file
	Package    string // the folder of the tests, below the root of the module
	Tests      string // an expression for -run
}

// Code lists the bugs in hand-written code, by the package whose tests must notice them.
var Code = slices.Concat(ofPlan, ofLlama, ofMemory, ofCheckers, ofAttention, ofLinks, ofCost, ofScales, ofAlike,
	ofInvariant, ofFormulas, ofIntervals)

// ofPlan lists bugs in runs, rebinding, captured graphs, refusals and messages of the runtime.
var ofPlan = within("runtime/plan", []CodeMutant{
	{File: "runtime/group/captured.go", Text: "runs of one capture on two streams are apart",
		Tests: "TestRunsInOneGraph",
		Old:   "return c.StreamUpdateCaptureDependencies(r.main, union(info.Nodes, s.graph.ends))", New: "return nil"},
	{File: "runtime/group/captured.go", Text: "the group goes on behind the first run of a capture",
		Tests: "TestRunsInOneGraph",
		Old:   "c.GraphAddDependencies(info.Graph, next.ends, next.record)",
		New:   "c.GraphAddDependencies(info.Graph, s.graph.ends, next.record)"},
	{File: "runtime/group/captured.go", Text: "a graph does not await what the group has run",
		Tests: "TestRunsInOneGraph",
		Old:   "return g.drv.StreamWaitEvent(r.main, s.order, driver.External)", New: "return nil"},
	{File: "runtime/plan/graphs.go", Text: "the graph of another binding", Tests: "TestBalanced",
		Old: "if f.At(0) != k.at[i] {", New: "if f.At(0) == 0 && k.at[i] == 1 {"},
	{File: "runtime/plan/collective.go", Text: "exchanges that are alike on a rank are tried once",
		Tests: "TestBalancedExchanges", Old: "q.plan.balanced != nil || ", New: ""},
	{File: "runtime/plan/call.go", Text: "a call of all the rows that there is room for", Tests: "TestCallByCounts",
		Old: "all.At, all.Bytes = b.At(0), b.Total()", New: "all.At, all.Bytes = b.At(0), b.bytes"},
	{File: "runtime/plan/call.go", Text: "a call of no rows", Tests: "TestCallByCounts",
		Old: "q.Idle(s, to.Bytes) || ", New: ""},
	{File: "runtime/plan/room.go", Text: "blocks that have no room", Tests: "TestNewAsksForRoom",
		Old: "each*have < most.blocks", New: "each < 0"},
	{File: "runtime/plan/room.go", Text: "room for a launch of another plan", Tests: "TestNewAsksForRoom",
		Old: "	return k.most\n", New: "	return all\n"},
	{File: "runtime/plan/queue_signals.go", Text: "a post that was taken is missing",
		Tests: "TestStepsNamePostsOfKernels", Old: "before[i].Taken = w.PostPost[i]", New: "before[i].Taken = 0"},
	{File: "runtime/plan/divides.go", Text: "the nearest multiples by the last requirement alone", Tests: "TestCheck",
		Old: "all = common(all, n)", New: "all = n"},
})

// ofAttention lists bugs in the reference of the catalogue's attention: a test that sees them sees the same bug in the
// kernel, and the kernel compiles with those of all packages.
var ofAttention = within("docs/examples/attention", []CodeMutant{
	{File: "docs/examples/attention/reference_test.go", Text: "query heads read the keys of another group",
		Tests: "TestAttention", Old: "head*(l.N2/l.W)/(l.N/l.W)*l.W", New: "head%(l.N2/l.W)*l.W"},
})

// ofCost lists bugs in the cost model's machine.
var ofCost = within("verify/cost", []CodeMutant{
	{File: "verify/cost/machine.go", Text: "links twice as fast", Tests: "TestLimits",
		Old: "Link:      390e3", New: "Link:      780e3"},
})

// ofScales lists bugs in products of 8 bits.
var ofScales = slices.Concat(within("runtime/driver/cuda", []CodeMutant{
	{File: "runtime/driver/cuda/product.c", Text: "each operand has the other's scale", Tests: "TestFakeForms",
		Old: "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale_b", New: "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale_a"},
	{File: "runtime/driver/cuda/product.c", Text: "each operand has the other's kind of scales",
		Tests: "TestFakeForms", Old: "OVGEN_DESC_A_SCALE_MODE, &of_b", New: "OVGEN_DESC_A_SCALE_MODE, &of_a"},
	{File: "runtime/driver/cuda/product.c", Text: "codes of B as A's type has them", Tests: "TestFakeForms",
		Old: "&p->b, of_b, s->k", New: "&p->b, of, s->k"},
	{File: "runtime/driver/cuda/product.c", Text: "no sums where there is no whole product", Tests: "TestFakeRowScales",
		Old: "if (p->sums && heuristic_of", New: "if (!status && p->sums && heuristic_of"},
	{File: "runtime/driver/cuda/product.c", Text: "sums are scaled by each other's scales", Tests: "TestFakeRowScales",
		Old: "{c, workspace, scale_a, scale_b, bias", New: "{c, workspace, scale_b, scale_a, bias"},
	{File: "runtime/driver/cuda/product.c", Text: "an algorithm's workspace is where its sums are",
		Tests: "TestFakeRowScales", Old: "form == SUMS ? workspace + p->sums : workspace", New: "workspace"},
	{File: "runtime/driver/cuda/scaled.go", Text: "eight bits on a device without", Tests: "TestFakeScaleRefusals",
		Old: "desc.Scaled() && have < 89", New: "false"},
	{File: "runtime/driver/cuda/scaled.go", Text: "scales of rows on a device without", Tests: "TestFakeScaleRefusals",
		Old: "many && have != 90", New: "false"},
	{File: "runtime/driver/cuda/scaled.go", Text: "scales of rows by a library without", Tests: "TestFakeScaleRefusals",
		Old: "many && version < 120900", New: "false"},
	{File: "runtime/driver/cuda/rescale.cu", Text: "a row with its neighbour's scale", Tests: "TestRescale",
		Old: "p.row_scales[blockIdx.y]", New: "p.row_scales[blockIdx.y ^ 1]"},
	{File: "runtime/driver/cuda/rescale.cu", Text: "no bias", Tests: "TestRescale",
		Old: "p.bias != nullptr", New: "false"},
}), within("verify/sim", []CodeMutant{
	{File: "verify/sim/matmul.go", Text: "the first row's scale for all", Tests: "TestConformProcess/scaled_products",
		Old: "a[i/d.N%len(a)]", New: "a[0]"},
	{File: "verify/sim/matmul.go", Text: "a column with its neighbour's scale",
		Tests: "TestConformProcess/scaled_products", Old: "b[i%d.N%len(b)]", New: "b[(i+1)%d.N%len(b)]"},
	{File: "verify/sim/matmul.go", Text: "codes of B as A's type has them", Tests: "TestConformProcess/scaled_products",
		Old: "o, \"B\", d.OperandB()", New: "o, \"B\", d.Operand()"},
	{File: "verify/sim/matmul.go", Text: "scales of A's blocks row by row",
		Tests: "TestConformProcess/products_with_block_scales", Old: "a[block*d.M+i/d.N]",
		New: "a[i/d.N*blocks+block]"},
	{File: "verify/sim/matmul.go", Text: "scales of B's blocks column by column",
		Tests: "TestConformProcess/products_with_block_scales", Old: "b[i%d.N/driver.ScaleBlock*blocks+block]",
		New: "b[(i%d.N/driver.ScaleBlock+block*d.N/driver.ScaleBlock)%(blocks*d.N/driver.ScaleBlock)]"},
	{File: "runtime/driver/func.go", Text: "a K that no device takes", Tests: "TestConformProcess/bad_scaled_products",
		Old: "d.K%16 != 0 || ", New: ""},
}), within("verify/served", []CodeMutant{
	{File: "verify/prove/scaled.go", Text: "the first rows' scales of blocks for all", Tests: "TestSquares",
		Old: "s.columnsOf(scales, i, len(list))", New: "s.columnsOf(scales, i/len(list), len(list))"},
	{File: "verify/prove/refine.go", Text: "scales of blocks cut as their rows", Tests: "TestSquares",
		Old: "x.ScaleA.Bytes > bytesOfScale && !o.InBlocks", New: "x.ScaleA.Bytes > bytesOfScale"},
}), within("runtime/kernels", []CodeMutant{
	{File: "runtime/kernels/table.go", Text: "codes are made on any device", Tests: "TestNarrow", Old: "code.From = 89",
		New: "code.From = 0"},
}))

// within sets the package of the tests of a list.
func within(folder string, list []CodeMutant) []CodeMutant {
	for i := range list {
		list[i].Package = folder
	}
	return list
}

// Name is the mutant in one line.
func (m CodeMutant) Name() string { return m.File + ": " + m.Text }

// Apply returns the file with the bug. The module lies in the folder dir.
func (m CodeMutant) Apply(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, m.File))
	if err != nil {
		return nil, fmt.Errorf("mutate %s: %w", m.Name(), err)
	}
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("mutate %s: %q stands %d times in the file, want once", m.Name(), m.Old, n)
	}
	return bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), nil
}

// JudgeCode runs the tests of m with the mutant in place of its file. The module lies in the folder dir.
func JudgeCode(ctx context.Context, dir string, m CodeMutant) (Class, string, error) {
	text, err := m.Apply(dir)
	if err != nil {
		return "", "", err
	}
	out, passed, err := overlaid(ctx, filepath.Join(dir, m.Package), m.Tests, filepath.Join(dir, m.File), text)
	switch failed := bytes.Index(out, []byte("--- FAIL: ")); {
	case err != nil:
		return "", "", fmt.Errorf("mutate %s: %w", m.Name(), err)
	case passed:
		return Survivor, "the tests pass: " + m.Tests, nil
	case failed < 0:
		return "", "", fmt.Errorf("mutate %s: %w:\n%s", m.Name(), errNoVerdict, out)
	default:
		why, _, _ := bytes.Cut(out[failed:], []byte("\n"))
		return Caught, string(why), nil
	}
}
