package nvrtc

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	s "ovgen/schedule"
	"ovgen/templates"
	"ovgen/verify/sampling"
)

// TestFunctions compiles kernels of elements and of groups as packages have them: none spills, and none contracts two
// operations to one with a single rounding. They are of bf16, whose threads hold the most, or, where OVGEN_SOAK is set,
// of all types.
func TestFunctions(t *testing.T) {
	sampling.Test(t, 0, 2)
	c, a := pinned(t), pinnedAssembler(t)
	norm := s.Times(s.X, s.RecipRoot(s.Plus(s.Mean(s.Times(s.X, s.X)), s.Param("Epsilon"))))
	left := s.Minus(s.X, s.Mean(s.X))
	exp := s.Exp(s.Minus(s.X, s.Most(s.X)))
	head := func(e s.Expr) s.Expr { return e.InHeads("W") }
	turned := s.Plus(s.Times(s.X, s.Cos("T")), s.Times(s.Turned(s.X, ""), s.Sin("T")))
	lists := [][]s.Expr{
		{s.Times(s.Over(s.X, s.Plus(s.Num(1), s.Exp(s.Neg(s.X)))), s.Of("U"))},
		{s.Plus(s.X, s.Row("B")), s.Times(s.X, s.Num(.22)), s.Plus(s.X, s.Of("R"))},
		{s.Times(s.Num(30), s.Tanh(s.Over(s.X, s.Num(30))))},
		{s.Times(s.Num(.5), s.X, s.Plus(s.Num(1), s.Erf(s.X))), s.Times(s.X, s.Column("S"))},
		{s.Times(norm, s.Row("N"))},
		{s.Times(norm, s.Row("N")), s.Plus(s.X, s.Of("R"))},
		{s.Plus(s.X, s.Of("R")), s.Times(norm, s.Row("N"))},
		{s.Times(left, s.RecipRoot(s.Plus(s.Mean(s.Times(left, left)), s.Param("Epsilon"))), s.Row("N"))},
		{s.Over(exp, s.SumOver(exp))},
		{turned},
		{s.Times(s.X, s.RecipRoot(head(s.Mean(s.Times(s.X, s.X)))), s.HeadRow("Q")), turned},
		{s.If(s.Below(32, "128"), turned, s.X)},
	}
	types := []driver.Type{driver.BF16}
	if sampling.All() {
		types = append(types, driver.FP32, driver.FP16)
	}
	ptx, kernels := compileFunctions(t, c, types, lists)
	// A load past the cache's coherence would miss what another kernel has written.
	if strings.Contains(string(ptx), ".nc.") {
		t.Error("a kernel reads memory that others write as if it were constant")
	}
	lines, err := a.Usage(ptx)
	if err != nil || len(lines) != kernels {
		t.Errorf("got %d lines, %v, want the registers of %d kernels", len(lines), err, kernels)
	}
	for _, l := range lines {
		t.Log(l)
	}
}

// TestMeasured writes the kernels that bench/functions measures.
func TestMeasured(t *testing.T) {
	file := os.Getenv("OVGEN_FUNCTIONS_PTX")
	if file == "" {
		t.Skip("it writes a file for bench/functions, and OVGEN_FUNCTIONS_PTX names none")
	}
	ptx, _ := compileFunctions(t, pinned(t), []driver.Type{driver.BF16, driver.FP16, driver.FP32}, [][]s.Expr{
		{s.SwiGLU("U").Tree()}, {s.Bias("B").Tree()},
		{s.RMSNorm("N").Tree()}, {s.RMSNorm("N").Tree(), s.Add("R").Tree()}, {s.LayerNorm("N", "B").Tree()},
		{s.Rotary("T").Tree()},
	})
	if err := os.WriteFile(file, ptx, 0o644); err != nil {
		t.Fatal(err)
	}
}

// compileFunctions compiles kernels of formulas, in some types, and counts them.
func compileFunctions(t *testing.T, c *Compiler, types []driver.Type, lists [][]s.Expr) (ptx []byte, count int) {
	t.Helper()
	d := templates.Device{From: "a test", About: []string{"Kernels."}, Formulas: map[string]*templates.Code{},
		Table: kernels.Table{Types: types}}
	numbers := map[kernels.Kind]int{}
	for _, trees := range lists {
		k, code, err := templates.Formula{Trees: trees, Width: func(string) s.Extent { return "W" }}.Kernel()
		if err != nil {
			t.Fatal(err)
		}
		numbers[k.Kind]++
		k.Number = numbers[k.Kind]
		k.Made.Word = fmt.Sprint(len(d.Table.Kernels))
		d.Table.Kernels, d.Formulas[k.Made.Word] = append(d.Table.Kernels, k), code
	}
	source, err := templates.Render(d.Source()...)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := templates.Headers()
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string][]byte{}
	for name, text := range texts {
		headers["../device/"+name] = text
	}
	if ptx, err = c.Compile("check.cu", source.Bytes, headers, options); err != nil {
		t.Fatal(err)
	}
	return ptx, len(d.Table.Code())
}
