package templates

import (
	"fmt"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	s "ovgen/schedule"
)

// fewFormulas are functions of products of few rows. Before the second one the library applies one of its own.
var fewFormulas = []Formula{
	{Trees: []s.Expr{s.SwiGLU("U").Tree()}},
	{Trees: []s.Expr{s.Plus(s.X, s.Row("V")), s.Times(s.X, s.Column("C"), s.Param("Scale")), s.SoftCap(30).Tree(),
		s.Plus(s.Times(s.X, s.Of("R")), s.Of("S"))}},
	{Trees: []s.Expr{s.Times(s.X, s.Of("R")), s.Add("S").Tree()}, Result: driver.FP32,
		Types: map[string]driver.Type{"S": driver.FP32}},
}

// fewFunctions are these functions, and the kernels of elements that make the same of results.
func fewFunctions() (functions []*fewrows.Function, apart []kernels.Kernel) {
	for i, f := range fewFormulas {
		k, code, err := f.Kernel()
		if err != nil {
			panic(err)
		}
		k.Number = i + 1
		k.Made.Word = fmt.Sprint(f, " of a product")
		codes[k.Made.Word] = code
		functions, apart = append(functions, &fewrows.Function{Number: i + 1, Made: k.Made}), append(apart, k)
	}
	functions[1].Epilogue = "relu"
	return functions, apart
}

// making are the kernels, and behind them each with one of the functions in turn.
func making(list fewrows.Family, functions []*fewrows.Function) (all fewrows.Family) {
	all = append(all, list...)
	for i, k := range list {
		k.Function = functions[i%len(functions)]
		all = append(all, k)
	}
	return all
}
