package catalog

import s "ovgen/schedule"

// ReduceScatterQuantised is ReduceScatter of which eight bits travel.
var ReduceScatterQuantised = quantisedSum(s.DIDx(s.D), nil)

// quantisedSum sums what the ranks' rows stand for as codes.
func quantisedSum(spread s.Split, moves []s.Move) s.Schedule {
	terms := []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: terms},
			{Name: "Codes", Axes: terms, Type: s.E4M3, Scale: "Scales"},
			{Name: "Scales", Axes: terms[:2], Type: s.FP32},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M, spread), s.Dim(s.N)}},
		},
		Ops:   []s.Op{s.Copy("Codes", "A", s.Quantise()), s.Sum("C", "Codes")},
		Moves: moves,
	}
}
