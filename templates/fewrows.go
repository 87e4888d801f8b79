package templates

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
)

// FewRows are kernels that share their code, of products of few rows, or of products by weights of eight bits.
type FewRows struct {
	Kernels fewrows.Family
	Types   []driver.Type
}

// multipliers are the kinds of kernels of few rows, by their weights' elements in device code, and their lines of the
// summary.
var multipliers = []struct{ weight, line string }{
	{"plain", "  fewrows  multiplies few rows by a weight"},
	{"coded", "  narrow  multiplies rows by a weight of eight bits"},
	{"squared", "  squares  multiplies rows by a weight of eight bits with scales of squares"},
}

// few are the package's kernels with such a weight.
func (d Device) few(weight string) (list fewrows.Family) {
	for _, k := range d.FewRows {
		if k.Weight() == weight {
			list = append(list, k)
		}
	}
	return list
}

// boxes reports whether some kernels of few rows copy boxes.
func (d Device) boxes() bool {
	return slices.ContainsFunc(d.FewRows, func(k fewrows.Kernel) bool { return k.Boxes })
}

// Narrow reports whether some kernels of products take a weight of eight bits.
func (d Device) Narrow() bool {
	return slices.ContainsFunc(d.FewRows, func(k fewrows.Kernel) bool { return k.Narrow })
}

// Only90 reports whether the package's kernels use instructions that only compute capability 9.0 has.
func (d Device) Only90() bool { return d.boxes() || d.any(kernels.Kernel.Multiplies) }

// functions are the functions of the package's kernels of products, in the order of their numbers.
func (d Device) functions() (list []*fewrows.Function) {
	for _, k := range d.FewRows {
		if f := k.Function; f != nil && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *fewrows.Function) int { return a.Number - b.Number })
	return list
}

// fewRows are the parts of the .cu with the kernels of few rows, if the package has them: their code, their functions,
// and the kernels of each kind.
func (d Device) fewRows() (parts []Part) {
	for _, m := range multipliers {
		if list := d.few(m.weight); len(list) > 0 {
			parts = append(parts, Part{"fewkernels.cu.tmpl", FewRows{list, fewrows.Types(d.Table.Types)}})
		}
	}
	before := []Part{{"fewrows.cu.tmpl", nil}}
	if d.boxes() {
		before = append(before, Part{"fewboxes.cu.tmpl", fewrows.Types(d.Table.Types)})
	}
	for _, f := range d.functions() {
		before = append(before, Part{"fewfunction.cu.tmpl", d.fewFunction(f)})
	}
	if len(parts) > 0 {
		parts = append(before, parts...)
	}
	return parts
}

// hostFewRows are the kernels of few rows with their struct.
func (d Device) hostFewRows() (list []HostKernel) {
	for _, k := range d.FewRows {
		for _, t := range fewrows.Types(d.Table.Types) {
			params := "fewrows"
			if k.Boxes {
				params = "fewboxes"
			}
			list = append(list, HostKernel{k.Name(t), params})
		}
	}
	return list
}
