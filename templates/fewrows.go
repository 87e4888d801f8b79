package templates

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
)

// FewRows are the kernels of products of few rows, which share their code.
type FewRows struct {
	Kernels []fewrows.Kernel
	Types   []driver.Type
}

// fewRows is the part of the .cu with them, where the package has them.
func (d Device) fewRows() (parts []Part) {
	if d.FewRows {
		parts = append(parts, Part{"fewrows.cu.tmpl", FewRows{fewrows.Kernels, fewrows.Types(d.Table.Types)}})
	}
	return parts
}

// hostFewRows are the kernels with their struct.
func (d Device) hostFewRows() (list []HostKernel) {
	if !d.FewRows {
		return nil
	}
	for _, k := range fewrows.Kernels {
		for _, t := range fewrows.Types(d.Table.Types) {
			list = append(list, HostKernel{k.Name(t), "fewrows"})
		}
	}
	return list
}
