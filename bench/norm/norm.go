// Package norm has the schedules that bench/norm.py measures: partial results that meet, a residual and a norm, with
// both results. Only make gpu-build generates their packages.
package norm

import s "ovgen/schedule"

// Joined is by one kernel, whose blocks have whole rows, and Apart by two.
var (
	Joined = behind(s.PushShot{Rows: true})
	Apart  = behind(s.PushShot{})
)

// Owners has an owner of each row, which sends both results, by one kernel of two shots. Spread sends the sum alone in
// two shots, and every rank makes the norm of all rows behind it.
var (
	Owners = behind(s.PushTwoShot{Rows: true})
	Spread = behind(s.PushTwoShot{})
)

// OwnJoined and OwnApart leave each rank its rows.
var (
	OwnJoined = behind(s.PushShot{Rows: true}, s.DIDx(s.D))
	OwnApart  = behind(s.PushShot{}, s.DIDx(s.D))
)

// behind is the sum of A, which each rank has, and of a residual, whose rows and those of the results are spread so.
func behind(way s.Way, rows ...s.Split) s.Schedule {
	result := []s.Axis{s.Dim(s.M, rows...), s.Dim(s.N)}
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}},
			{Name: "Residual", Axes: result},
			{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
			{Name: "H", Axes: result},
			{Name: "C", Axes: result},
		},
		Ops:   []s.Op{s.Sum("C", "A", s.Add("Residual"), s.RMSNorm("Norm")).Keeping("H", 1)},
		Moves: []s.Move{{Of: "H", Way: way}},
	}
}
