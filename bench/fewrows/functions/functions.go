// Package functions has kernels of few rows that apply functions to their results, and kernels of elements that apply
// the same functions by themselves. Command fewrows compares them; a test of package nvrtc compiles them.
package functions

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/templates"
)

// Device is the device code: kernels without a function and with each, of a family.
func Device(family fewrows.Family) (templates.Device, error) {
	d := templates.Device{From: "bench/fewrows", About: []string{"Kernels."}, Formulas: map[string]*templates.Code{},
		Table: kernels.Table{Types: []driver.Type{driver.BF16, driver.FP16},
			Early: slices.ContainsFunc(family, func(k fewrows.Kernel) bool { return k.Early })}}
	list := []*fewrows.Function{nil}
	for i, f := range []schedule.Func{schedule.SwiGLU("Up"), schedule.Add("Residual")} {
		k, code, err := templates.Formula{Trees: []schedule.Expr{f.Tree()}}.Kernel()
		if err != nil {
			return d, err
		}
		k.Number, k.Made.Word = i+1, f.Word
		d.Formulas[f.Word] = code
		d.Table.Kernels = append(d.Table.Kernels, k)
		list = append(list, &fewrows.Function{Number: i + 1, Made: k.Made})
	}
	d.FewRows = family.With(append(list, &fewrows.Function{Number: len(list), Epilogue: schedule.GELU().Word})...)
	return d, nil
}
