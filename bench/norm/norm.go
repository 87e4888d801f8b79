// Package norm has the schedules that bench/norm.py measures: a sum of partial results for every rank, a residual and a
// norm, with both results. Only make gpu-build generates their packages.
package norm

import s "ovgen/schedule"

// Joined is by one kernel, whose blocks have whole rows, and Apart by two.
var (
	LinearJoined = behindLinear(s.PushShot{Rows: true})
	LinearApart  = behindLinear(s.PushShot{})
	OwnJoined    = ownRows(s.PushShot{Rows: true})
	OwnApart     = ownRows(s.PushShot{})
)

// behindLinear is the product of a layer that decodes, its all-reduce, the residual and the norm of the next layer.
func behindLinear(way s.Way) s.Schedule {
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
			{Name: "Residual", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
			{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
			{Name: "H", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		},
		Ops:   []s.Op{s.Linear("C", "A", "B", s.Add("Residual"), s.RMSNorm("Norm")).Keeping("H", 1)},
		Moves: []s.Move{{Of: "H", Way: way}},
	}
}

func ownRows(way s.Way) s.Schedule {
	x := behindLinear(way)
	for i := range x.Tensors {
		switch x.Tensors[i].Name {
		case "Residual", "H", "C":
			x.Tensors[i].Axes = []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}
		}
	}
	return x
}
