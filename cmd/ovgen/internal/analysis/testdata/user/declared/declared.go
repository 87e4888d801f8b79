// Package declared has mistakes in exported schedules.
package declared

import s "ovgen/schedule"

var (
	Nothing s.Schedule // want `schedule Nothing: Ops: no operation`

	Choices = s.Schedule{
		Tensors: linear,
		Ops:     []s.Op{s.Linear("C", "A", "B")},
		Moves: []s.Move{{
			Of: "A",
			Way: s.Pull{
				By:      "pigeon", // want `schedule Choices: Moves\[0\].Way.By: unknown choice "pigeon" \(use one of`
				Streams: -1,       // want `schedule Choices: Moves\[0\].Way.Streams: Streams is -1`
				Parts:   most + 1, // want `schedule Choices: Moves\[0\].Way.Parts: Parts is 65`
			},
		}, {
			Of: "D", // want `schedule Choices: Moves\[1\].Of: there is no tensor "D"`
		}},
		Types: []s.Type{s.BF16, "fp8"}, // want `schedule Choices: Types\[1\]: unknown choice "fp8"`
	}

	Missing = s.Schedule{Ops: matmul,
		Tensors: []s.Tensor{a}} // want `reads B, which nothing declares` `makes C, which nothing declares`

	// The tensors can't be read, so nothing else is reported.
	Twice = s.Schedule{Ops: matmul, Tensors: []s.Tensor{a, {"A", a.Axes, "", false, "", "", false}}}

	Names = s.Schedule{Ops: matmul, Tensors: []s.Tensor{
		a, b, c,
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K)}}, // want `Tensors\[3\].Name: tensor A is declared twice`
	}}

	Operations = s.Schedule{Tensors: linear, Ops: []s.Op{
		s.Linear("C", "A", "B",
			s.Func{Is: s.Expr{Do: "sine"}}), // want `Ops\[0\].Then\[0\].Is.Do: unknown operation "sine"`
		s.Linear(
			"C", // want `schedule Operations: Ops\[1\].Out: C is made by Ops\[0\] already`
			"A", "B"),
	}}

	Formulas = s.Schedule{Tensors: linear, Ops: []s.Op{s.Linear("C", "A", "B", s.Func{Is: s.Plus(s.X,
		s.Neg(s.Num(1e60)), // want `Ops\[0\].Then\[0\].Is.Of\[0\].Of\[1\].Of\[0\].Number: 1e\+60 is no constant`
		s.Num(2))})}}

	Extents = s.Schedule{Ops: []s.Op{s.Linear("C", "A", "B")}, Tensors: []s.Tensor{
		a,
		{"B", []s.Axis{s.Dim(s.K), s.Dim(s.N)}, "", false, "", "", false}, // want `extent "N" where A has "K"`
		{Name: "C", Axes: []s.Axis{
			s.Dim("0"), // want `Tensors\[2\].Axes\[0\].Extent: "0" is no extent`
			s.Dim(s.K, s.Split{Kind: s.StreamAxis, Count: s.D,
				Shift: 1}), // want `Tensors\[2\].Axes\[1\].Outer\[0\].Shift: only parts that ranks hold can be shifted`
		}},
	}}

	// A schedule that can be read but not lowered is reported too.
	Unlowered = s.Schedule{Ops: []s.Op{s.Linear("C", "A", "B")}, Tensors: linear, Moves: []s.Move{
		{Of: "A", Way: s.Shot{}}}} // want `Unlowered: Moves\[0\].Way: no pass does the all-gather of A by Shot`

	Computed = make(s.Linear("C", "A", "B"))
)

const most = 64

var (
	a = s.Tensor{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}}
	b = s.Tensor{Name: "B", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.N)}}
	c = s.Tensor{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}}

	linear = []s.Tensor{a, {Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}}, c}
	matmul = []s.Op{s.Matmul("C", "A", "B")}
)

func make(op s.Op) s.Schedule { return s.Schedule{Ops: []s.Op{op}} }
