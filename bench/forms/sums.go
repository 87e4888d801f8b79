package forms

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Sums that apply functions before they round, by each way that adds in the order of ranks, and by rings and NCCL,
// which apply them behind.
var (
	SumSlots      = ended(s.Slots{})
	SumShot       = ended(s.Shot{})
	SumTwoShot    = ended(s.TwoShot{})
	SumPackets    = ended(s.PushShot{})
	SumPushed     = ended(s.PushShot{Words: true})
	SumTwoPackets = ended(s.PushTwoShot{})
	SumNCCL       = ended(s.NCCL{})

	ProductSlots   = product(s.Slots{})
	ProductStores  = product(s.Stores{})
	ProductStaged  = product(s.Staged{})
	ProductShot    = product(s.Shot{})
	ProductPackets = product(s.PushShot{})
	ProductTiles   = of16(product(s.Tiles{}))
	ProductRing    = product(s.RingSum{})

	RowParallelTiles = of16(by(catalog.RowParallelLinear, "C", s.Tiles{}))
	ManyTiles        = of16(many(s.Tiles{}))
)

// NormsByOwners has two norms of rows, with a sum between them that is kept, by the owners of the rows.
var NormsByOwners = s.Schedule{Tensors: catalog.AllReduceNorms.Tensors, Ops: catalog.AllReduceNorms.Ops,
	Moves: []s.Move{{Of: "R", Way: s.PushTwoShot{Rows: true}}}}

// Chains in which the copy engine gathers and kernels sum, and the other way round.
var (
	MLPOnceShot       = mlp(s.Pull{Once: true}, s.Shot{})
	MLPEngineTwoShot  = wholeMLP(s.TwoShot{})
	MLPEnginePackets  = mlp(s.Pull{}, s.PushShot{})
	MLPEngineTwoPacks = wholeMLP(s.PushTwoShot{})
	LayerGatherShot   = layer(s.GatherShot{})
	LayerPushGather   = layer(s.PushGather{})
)

// ending are functions at which tensors, numbers of rows, a gate, a cap and a row stand.
func ending() []s.Func {
	return []s.Func{s.Add("R"), scaled, s.SwiGLU("U"), s.SoftCap(3), s.Bias("V")}
}

// scaled multiplies each row by a number.
var scaled = s.Func{Word: "scaled", Is: s.Times(s.X, s.Column("S"))}

// operands are those of ending for a result of these axes.
func operands(result ...s.Axis) []s.Tensor {
	return []s.Tensor{
		{Name: "R", Axes: result}, {Name: "S", Axes: result[:1]}, {Name: "U", Axes: result},
		{Name: "V", Axes: []s.Axis{s.Dim(s.N)}}, {Name: "C", Axes: result},
	}
}

// ended is a sum of what each rank has, for all ranks.
func ended(way s.Way) s.Schedule {
	result := []s.Axis{s.Dim(s.M), s.Dim(s.N)}
	return s.Schedule{
		Tensors: append(operands(result...),
			s.Tensor{Name: "A", Axes: append([]s.Axis{s.Dim(s.D, s.DIDx(s.D))}, result...)}),
		Ops:   []s.Op{s.Sum("C", "A", ending()...)},
		Moves: []s.Move{{Of: "C", Way: way}},
	}
}

// product is a product whose sums leave each rank its rows.
func product(way s.Way) s.Schedule {
	return s.Schedule{
		Tensors: append(operands(s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)),
			s.Tensor{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
			s.Tensor{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}}),
		Ops:   []s.Op{s.Linear("C", "A", "B", ending()...)},
		Moves: []s.Move{{Of: "C", Way: way}},
	}
}

// many is such a product with functions of five tensors. Its kernel adds none of them as a term of the sum.
func many(way s.Way) s.Schedule {
	x := product(way)
	x.Tensors = append(x.Tensors, s.Tensor{Name: "R2", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}})
	x.Ops = []s.Op{s.Linear("C", "A", "B", s.Bias("V"), scaled, s.SwiGLU("U"), s.Add("R"), s.Add("R2"))}
	return x
}

// mlp gathers rows by one way, and its sums leave by another.
func mlp(gather, sum s.Way) s.Schedule {
	return s.Schedule{
		Tensors: catalog.GatedMLP.Tensors,
		Ops:     catalog.GatedMLP.Ops,
		Moves:   []s.Move{{Of: "A", Way: gather}, {Of: "C", Way: sum}},
	}
}

// wholeMLP gathers rows by the copy engine, and its sums go to all ranks.
func wholeMLP(sum s.Way) s.Schedule {
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Down", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		},
		Ops:   []s.Op{s.Linear("H", "A", "Up", s.ReLU()), s.Linear("C", "H", "Down")},
		Moves: []s.Move{{Of: "C", Way: sum}},
	}
}

// layer gathers A by the copy engine, and what its sums leave by a way.
func layer(gather s.Way) s.Schedule {
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Down", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
			{Name: "X", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
			{Name: "Next", Axes: []s.Axis{s.Dim(s.K, s.DIDx(s.D)), s.Dim(s.N)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.K, s.DIDx(s.D))}},
		},
		Ops: []s.Op{
			s.Linear("H", "A", "Up", s.ReLU()), s.Linear("X", "H", "Down"), s.Linear("C", "X", "Next"),
		},
		Moves: []s.Move{{Of: "X", Way: gather}},
	}
}

// of16 is a schedule of bf16 and fp16 alone, of which tiles are made.
func of16(x s.Schedule) s.Schedule {
	x.Types = []s.Type{s.BF16, s.FP16}
	return x
}

// CodesEnded is a sum of codes that ends with a tensor, a gate and a row.
var CodesEnded = s.Schedule{
	Tensors: append(catalog.ReduceScatterQuantised.Tensors[:4:4],
		s.Tensor{Name: "R", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		s.Tensor{Name: "U", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		s.Tensor{Name: "V", Axes: []s.Axis{s.Dim(s.N)}}),
	Ops: []s.Op{catalog.ReduceScatterQuantised.Ops[0], s.Sum("C", "Codes", s.Add("R"), s.SwiGLU("U"), s.Bias("V"))},
}
