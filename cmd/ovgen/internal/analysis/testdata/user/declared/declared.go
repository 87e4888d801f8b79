// Package declared has mistakes in exported schedules.
package declared

import s "ovgen/schedule"

var (
	Nothing s.Schedule // want `schedule Nothing: Op: no operation`

	Choices = s.Schedule{
		Op:      "linear",
		Tensors: linear,
		Pipeline: s.Pipeline{
			Kind:   "ring",   // want `schedule Choices: Pipeline.Kind: unknown choice "ring" \(use one of \["point-to-point"`
			Chunks: 3,        // want `schedule Choices: Pipeline.Chunks: chunks are those of a collective`
			Parts:  most + 1, // want `schedule Choices: Pipeline.Parts: a shard in 65 parts`
		},
		Transport: s.Transport{Steps: s.Fused}, // want `schedule Choices: Transport.Steps: only kernels can be fused`
		Streams:   s.Streams{Compute: -1},      // want `schedule Choices: Streams.Compute: -1 compute streams`
		Types:     []s.Type{s.BF16, "fp8"},     // want `schedule Choices: Types\[1\]: unknown choice "fp8"`
	}

	Missing = s.Schedule{Op: s.Matmul, Tensors: []s.Tensor{a}} // want `Tensors: tensor B is missing` `Tensors: tensor C is missing`

	Twice = s.Schedule{Op: s.Matmul, Tensors: []s.Tensor{a, {"A", a.Axes, false, ""}}} // no more is known than that it can't be read

	Names = s.Schedule{Op: s.Matmul, Tensors: []s.Tensor{
		a, b, c,
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K)}}, // want `schedule Names: Tensors\[3\].Name: tensor A is declared twice`
	}}

	Extents = s.Schedule{Op: s.Linear, Tensors: []s.Tensor{
		a,
		{"B", []s.Axis{s.Dim(s.K), s.Dim(s.N)}, false, ""}, // want `Tensors\[1\].Axes\[0\].Extent: extent "K" does not fit B of a linear` `Tensors\[1\].Axes\[1\].Extent: extent "N" does not fit`
		{Name: "C", Axes: []s.Axis{
			s.Dim("0"), // want `Tensors\[2\].Axes\[0\].Extent: "0" is no extent`
			s.Dim(s.N, s.Split{Kind: s.StreamAxis, Count: s.D, Shift: 1}), // want `Tensors\[2\].Axes\[1\].Outer\[0\].Shift: only parts that ranks hold can be shifted`
		}},
	}}

	// What no pass lowers is said too, where all is known.
	Unlowered = s.Schedule{Op: s.Linear, Tensors: linear, Pipeline: s.Pipeline{Own: s.Last}} // want `schedule Unlowered: Pipeline.Own: `

	Computed = make(s.Linear)
)

const most = 64

var (
	a = s.Tensor{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}}
	b = s.Tensor{Name: "B", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.N)}}
	c = s.Tensor{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}}

	linear = []s.Tensor{a, {Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}}, c}
)

func make(op s.Op) s.Schedule { return s.Schedule{Op: op} }
