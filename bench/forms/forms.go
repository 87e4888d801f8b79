// Package forms has schedules that are not in the catalogue; bench/gpu.sh compares their bits. They are layers of 16
// bits by counts, with padding too, balanced rows of eight, codes of e5m2 with scales of ue8m0, eight and four bits
// over hosts, sums that apply functions, by each way, chains whose stages communicate by different ways, batches,
// columns and counted rows by ways that the catalogue has for others, and layers of batches and uneven rows. Only make
// gpu-build generates their packages.
package forms

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

var (
	bounded = s.Split{Kind: s.DeviceX, Count: s.D, Uneven: true, Most: s.P}

	AllGatherMXE5M2  = mx(s.DIDx(s.D), s.Dim(s.M, s.Stream(s.D)))
	AllGatherVMXE5M2 = mx(bounded, s.Dim(s.M))

	AllGatherVLinear = s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.K)}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		},
		Ops: []s.Op{s.Linear("C", "A", "B")},
	}
	LinearReduceScatterV = s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.N)}},
		},
		Ops: []s.Op{s.Linear("C", "A", "B")},
	}
	AllGatherLinearBalancedFP8 = s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.Balanced(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleA"},
			{Name: "ScaleA", Axes: []s.Axis{s.Dim(s.M, s.Balanced(s.D))}, Type: s.FP32},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleB"},
			{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.N)}, Type: s.FP32},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		},
		Ops: []s.Op{s.Linear("C", "A", "B")},
	}
	LinearReduceScatterBalancedFP8 = s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E4M3, Scale: "ScaleA"},
			{Name: "ScaleA", Axes: []s.Axis{s.Dim(s.M)}, Type: s.FP32},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E4M3, Scale: "ScaleB"},
			{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.N)}, Type: s.FP32},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Balanced(s.D)), s.Dim(s.N)}},
		},
		Ops: []s.Op{s.Linear("C", "A", "B")},
	}
	GatedMLPV = s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.K)}},
			{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Down", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.N)}},
		},
		Ops: []s.Op{s.Linear("U", "A", "Up"), s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down")},
	}
)

// Products of padded rows: alone, behind the gate of an MLP, and with partial results that are quantised.
var (
	AllGatherVLinearPadded   = padded(AllGatherVLinear, "A")
	GatedMLPVPadded          = padded(GatedMLPV, "A")
	GatedMLPVQuantisedPadded = padded(catalog.GatedMLPVQuantised, "Rows")
)

// padded is a schedule of rows by counts, at most P for each rank, whose gathered rows have padding.
func padded(x s.Schedule, gathered string) s.Schedule {
	x.Tensors = slices.Clone(x.Tensors)
	for i := range x.Tensors {
		x.Tensors[i].Axes = slices.Clone(x.Tensors[i].Axes)
		if rows := &x.Tensors[i].Axes[0]; len(rows.Outer) > 0 && rows.Outer[0].Uneven {
			rows.Outer = []s.Split{bounded}
		}
	}
	x.Moves = []s.Move{{Of: gathered, Way: s.Padded{}}}
	return x
}

// mx gathers rows of a spread as codes of e5m2.
func mx(spread s.Split, made s.Axis) s.Schedule {
	r := s.Dim(s.M, spread)
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{r, s.Dim(s.N)}},
			{Name: "Codes", Axes: []s.Axis{r, s.Dim(s.N)}, Type: s.E5M2, Scale: "Scales"},
			{Name: "Scales", Axes: []s.Axis{r, s.Dim(s.Blocks(s.N, 32))}, Type: s.UE8M0},
			{Name: "C", Axes: []s.Axis{made, s.Dim(s.N)}},
		},
		Ops: []s.Op{s.Copy("Codes", "A", s.QuantiseE5M2()), s.Copy("C", "Codes", s.Dequantise("Scales"))},
	}
}
