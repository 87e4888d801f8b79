// Package ahead declares a layer of Llama behind attention for few rows: by the library of products, by kernels of few
// rows, by weights of eight bits, and by the same kernels that read weights ahead of the end of the launch before.
// bench/gpu.sh ahead compares them. Only make gpu-build generates their packages.
package ahead

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Library has the products of the library.
var Library = catalog.BlockBehindAttentionPackets

// FewRows uses the kernels of few rows. FewRowsAhead lets the same kernels read weights ahead.
var (
	FewRows      = few(Library)
	FewRowsAhead = ahead(FewRows)
)

// Narrow has weights of eight bits, and NarrowAhead reads them ahead.
var (
	Narrow      = narrow(Library)
	NarrowAhead = ahead(Narrow)
)

func few(of s.Schedule) s.Schedule {
	of.FewRows = 64
	return of
}

// weights changes the weights of products.
func weights(of s.Schedule, change func(t *s.Tensor)) s.Schedule {
	of.Tensors = slices.Clone(of.Tensors)
	for i, t := range of.Tensors {
		if slices.ContainsFunc(of.Ops, func(o s.Op) bool { return len(o.In) == 2 && o.In[1] == t.Name }) {
			change(&of.Tensors[i])
		}
	}
	return of
}

// ahead lets all weights be read ahead.
func ahead(of s.Schedule) s.Schedule {
	return weights(of, func(t *s.Tensor) { t.Constant = true })
}

// narrow gives weights eight bits, and a scale for each of their rows.
func narrow(of s.Schedule) s.Schedule {
	var scales []s.Tensor
	of = weights(of, func(t *s.Tensor) {
		t.Type, t.Scale = s.E4M3, "Scale"+t.Name
		scales = append(scales, s.Tensor{Name: t.Scale, Axes: t.Axes[:1:1], Type: s.FP32})
	})
	of.Tensors = append(of.Tensors, scales...)
	return of
}
