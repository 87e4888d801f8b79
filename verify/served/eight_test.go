package served

import (
	"slices"

	s "ovgen/schedule"
)

// eight is the form with operands of eight bits, each with scales: one, or one for each row.
func (f form) eight(rows bool, tensors ...string) form {
	f.Tensors = slices.Clone(f.Tensors)
	for i, t := range f.Tensors {
		if !slices.Contains(tensors, t.Name) {
			continue
		}
		f.Tensors[i].Type, f.Tensors[i].Scale = s.E4M3, "S"+t.Name
		scale := s.Tensor{Name: "S" + t.Name, Axes: []s.Axis{s.Dim(s.OneScale)}, Type: s.FP32}
		if rows {
			scale.Axes = slices.Clone(t.Axes[:len(t.Axes)-1])
		}
		f.Tensors = append(f.Tensors, scale)
	}
	return f
}

// inParts is the form with operands of eight bits that have a scale for each rank's part of a row.
func (f form) inParts(tensors ...string) form {
	f = f.eight(true, tensors...)
	for i, t := range f.Tensors {
		if of, scales := f.ScaledBy(t.Name); scales && slices.Contains(tensors, of.Name) {
			f.Tensors[i].Axes = append(t.Axes, s.Dim(s.D, s.DIDx(s.D)))
		}
	}
	return f
}

// coded is the form with tensors of another type of codes, each with scales of blocks of so many columns.
func (f form) coded(typ, scales s.Type, block int64, tensors ...string) form {
	f = f.eight(true, tensors...)
	for i, t := range f.Tensors {
		if of, scaled := f.ScaledBy(t.Name); scaled && slices.Contains(tensors, of.Name) {
			last := of.Axes[len(of.Axes)-1]
			f.Tensors[i].Axes, f.Tensors[i].Type = append(t.Axes, s.Dim(s.Blocks(last.Extent, block))), scales
		} else if slices.Contains(tensors, t.Name) {
			f.Tensors[i].Type = typ
		}
	}
	return f
}

// gatheredEight is the layer that most of these change.
func gatheredEight(rows bool) form {
	return linear("A[M/D K] B[N/D K] C[M:D N/D]").eight(rows, "A", "B")
}

// eights are schedules with operands of eight bits.
var eights = []declared{
	{"E01", "own rows", linear("A[M/D K] B[N K] C[M/D N]").eight(false, "A", "B"), served},
	{"E02", "own rows, scales of rows", linear("A[M/D K] B[N K] Bias[N] C[M/D N]").eight(true, "A", "B"), served},
	{"E03", "rows that travel", gatheredEight(false), served},
	{"E04", "rows that travel with their scales", gatheredEight(true), served},
	{"E05", "in parts", gatheredEight(true).by("A", s.Pull{Parts: 2}), served},
	{"E06", "on the streams of the products", gatheredEight(true).by("A", s.Pull{WithStep: true}), served},
	{"E07", "two streams of products", gatheredEight(true).by("A", s.Pull{Streams: 2}), served},
	{"E08", "all rows at once", gatheredEight(true).by("A", s.Pull{Once: true}), served},
	{"E09", "signals by kernels", gatheredEight(true).by("A", s.Pull{By: s.KernelSignals}), served},
	{"E10", "on a ring", gatheredEight(true).by("A", s.Ring{}), served},
	{"E11", "on a ring, put", gatheredEight(true).by("A", s.PushRing{}), served},
	{"E12", "pushed", gatheredEight(true).by("A", s.Push{By: s.CopyEngine}), served},
	{"E13", "naive", gatheredEight(true).by("A", s.Naive{Copied: true}), served},
	{"E14", "groups", gatheredEight(true).by("A", s.Grouped{}), served},
	{"E15", "batches", linear("A[M*4/D K] B[N/D K] C[M*4:D N/D]").eight(true, "A", "B"), served},
	{"E16", "a weight that travels", linear("A[M/D K] B[N/D K] C[M/D N]").eight(true, "A", "B"), served},
	{"E17", "a weight's columns that travel", linear("A[M/D K] B[N K/D] C[M/D N]").eight(true, "A", "B"), served},
	{"E18", "a reduce-scatter", linear("A[M K/D] B[N K/D] C[M/D N]").eight(true, "A", "B"), served},
	{"E19", "a reduce-scatter, one scale", linear("A[M K/D] B[N K/D] C[M/D N]").eight(false, "A", "B"), served},
	{"E20", "an all-reduce", linear("A[M K/D] B[N K/D] C[M N]").eight(true, "A", "B"), served},
	{"E21", "an all-reduce by packets", linear("A[M K/D] B[N K/D] C[M N]").eight(true, "A", "B").
		by("C", s.PushShot{}), served},
	{"E22", "queries, keys and values", linear("A[M/D K] B[N/D K] B2[N2/D K] B3[N3/D K] C[M:D N/D] C2[M:D N2/D] "+
		"C3[M:D N3/D]").eight(true, "A", "B", "B2", "B3"), served},
	{"E23", "a gated MLP", of("A[M/D K] B[F/D K] B2[F/D K] B3[N F/D] C[M/D N]", s.Linear("U", "A", "B2"),
		s.Linear("H", "A", "B", s.SwiGLU("U")), s.Linear("C", "H", "B3")).eight(true, "A", "B", "B2"), served},
	{"E24", "logits", linear("A[M K] B[N/D K] C[M N]").eight(true, "A", "B"), served},
	{"E25", "a function behind the product", of("A[M/D K] B[N/D K] Bias[N/D] C[M:D N/D]",
		s.Linear("C", "A", "B", s.Bias("Bias"), s.GELU())).eight(true, "A", "B"), served},
	{"E26", "stored into the slots of peers", linear("A[M K/D] B[N K/D] C[M/D N]").eight(true, "A", "B").
		by("C", s.Stores{}), served},

	{"E27", "by a kernel", gatheredEight(true).by("A", s.Pull{By: s.Kernels}), served},
	{"E28", "pushed by kernels", gatheredEight(true).by("A", s.Push{By: s.Kernels}), served},
	{"E29", "by one kernel a step", gatheredEight(true).by("A", s.Pull{By: s.OneKernel}), served},
	{"E30", "by one kernel", gatheredEight(true).by("A", s.GatherShot{}), served},
	{"E31", "by NCCL", gatheredEight(true).by("A", s.NCCL{}), served},
	{"E32", "by NCCL in parts", gatheredEight(true).by("A", s.NCCL{Parts: 2}), served},
	{"E32b", "by NCCL, one scale", gatheredEight(false).by("A", s.NCCL{}), served},
	{"E32c", "a weight by one kernel", linear("A[M/D K] B[N/D K] C[M/D N]").eight(true, "A", "B").
		by("B", s.GatherShot{}), served},
	{"E32d", "broadcasts", gatheredEight(true).by("A", s.Broadcast{}), served},
	{"E33b", "by packets", gatheredEight(true).by("A", s.PushGather{}), served},
	{"E33", "tiles", gatheredEight(true).by("A", s.Tiles{}),
		at("Moves[0].Way", "no kernel of its way takes the scales of A along")},
	{"E33c", "tiles of sums", linear("A[M K/D] B[N K/D] C[M/D N]").eight(true, "A", "B").by("C", s.Tiles{}),
		at("Moves[0].Way", "no kernel of its way takes the scales of B along (use schedule.Slots)")},
	{"E34", "no scale", gatheredEight(true).changed("A", func(t *s.Tensor) { t.Scale = "" }),
		at("Tensors[0].Scale", "A has eight bits, and no scale (declare a tensor of fp32 with one axis, 1, or that of "+
			"the rows of A, and name it)")},
	{"E35", "a scale of 16 bits' elements", gatheredEight(true).changed("A", func(t *s.Tensor) { t.Type = "" }),
		at("Tensors[0].Scale", "only elements of eight bits have scales (leave it out, or set Type: schedule.E4M3)")},
	{"E36", "scales that are whole", gatheredEight(true).changed("SA", func(t *s.Tensor) { t.Axes[0].Outer = nil }),
		at("Tensors[3]", "SA is [M], and scales of A are one, or lie as its rows do (place it [DIDx(D), M/D])")},
	{"E37", "a scale that nothing declares", gatheredEight(true).changed("A", func(t *s.Tensor) { t.Scale = "X" }),
		at("Tensors[0].Scale", `there is no tensor "X" (declare it with Type: schedule.FP32)`)},
	{"E38", "scales of the plan's type", gatheredEight(true).changed("SA", func(t *s.Tensor) { t.Type = "" }),
		at("Tensors[0].Scale", "scales are numbers of fp32, in memory of their own")},
	{"E39", "one scale for two", gatheredEight(false).changed("B", func(t *s.Tensor) { t.Scale = "SA" }),
		at("Tensors[1].Scale", "SA is the scale of A already (declare another one)")},
	{"E40", "eight bits and 16", linear("A[M/D K] B[N/D K] C[M:D N/D]").eight(true, "A"),
		at("Ops[0].In[1]", "A has eight bits, and B has not (set Type: schedule.E4M3 for both, or for the weight "+
			"alone)")},
	{"E41", "scales of rows and one", linear("A[M/D K] B[N/D K] C[M:D N/D]").eight(true, "A").eight(false, "B"),
		at("Ops[0]", "SA has one for each row of A, and SB one for all of B")},
	{"E42", "a result of eight bits", gatheredEight(true).eight(true, "C"),
		at("Tensors[2].Type", "C is made by an operation that divides no row by its scale (end its functions with "+
			"schedule.Quantise())")},
	{"E43", "a weight [K, N]", matmul("A[M/D K] B[K N/D] C[M:D N/D]").eight(false, "A", "B"),
		at("Ops[0]", "matmul takes no operand of eight bits (use schedule.Linear, with a weight [N, K])")},
	{"E44", "results of fp32", gatheredEight(true).types("bf16", "fp32"),
		at("Types[1]", "products of eight bits have results of 16")},
	{"E45", "uneven rows", linear("A[M/D~ K] B[N K] C[M N]").eight(true, "A", "B"), served},
	{"E45b", "balanced rows", balanced(linear("A[M/D K] B[N K] C[M N]"), "A").eight(true, "A", "B"), served},
	{"E45c", "on a ring", balanced(linear("A[M/D K] B[N K] C[M N]"), "A").eight(true, "A", "B").by("A", s.Ring{}),
		at("Moves[0].Way", "a product reads scales from multiples of 16 bytes, and those of one rank's rows of A "+
			"begin anywhere (leave it out, as all rows are then taken at once, or give them one scale)")},
	{"E45d", "one scale", balanced(linear("A[M/D K] B[N K] C[M N]"), "A").eight(false, "A", "B").by("A", s.Ring{}),
		served},
	{"E45e", "sums to them", balanced(linear("A[M K/D] B[N K/D] C[M/D N]"), "C").eight(true, "A", "B"), served},
	{"E45f", "in slots", balanced(linear("A[M K/D] B[N K/D] C[M/D N]"), "C").eight(true, "A", "B").by("C", s.Slots{}),
		at("Moves[0].Way", "those of one rank's rows of A begin anywhere")},
	{"E45g", "in slots, one scale", balanced(linear("A[M K/D] B[N K/D] C[M/D N]"), "C").eight(false, "A", "B").
		by("C", s.Slots{}), served},
	{"E45h", "copied", balanced(moved("A[M/D N] C[M N]"), "A").eight(true, "A", "C"), served},
	{"E46", "a residual of eight bits", of("A[M/D K] B[N/D K] R[M N/D] C[M:D N/D]",
		s.Linear("C", "A", "B", s.Add("R"))).eight(true, "A", "B", "R"),
		at("Ops[0].Then[0].Is.Of[1].Tensor", "add takes no eight bits")},

	{"E47", "a weight alone", linear("A[M/D K] B[N K] Bias[N] C[M/D N]").eight(true, "B"), served},
	{"E48", "a weight alone, one scale", linear("A[M/D K] B[N K] C[M/D N]").eight(false, "B"), served},
	{"E49", "rows that travel to it", narrowed().eight(true, "B"), served},
	{"E50", "by packets", narrowed().eight(true, "B").by("A", s.PushGather{}), served},
	{"E51", "by a kernel", narrowed().eight(true, "B").by("A", s.Pull{By: s.Kernels}), served},
	{"E52", "the weight travels", linear("A[M/D K] B[N/D K] C[M/D N]").eight(true, "B"), served},
	{"E53", "its columns travel", linear("A[M/D K] B[N K/D] C[M/D N]").eight(true, "B"), served},
	{"E54", "a reduce-scatter", linear("A[M K/D] B[N K/D] C[M/D N]").eight(true, "B"), served},
	{"E55", "an all-reduce by packets", linear("A[M K/D] B[N K/D] C[M N]").eight(true, "B").
		by("C", s.PushShot{}), served},
	{"E56", "a gated MLP", of("A[M/D K] B[F/D K] B2[F/D K] B3[N F/D] C[M/D N]", s.Linear("U", "A", "B2"),
		s.Linear("H", "A", "B", s.SwiGLU("U")), s.Linear("C", "H", "B3")).eight(true, "B", "B2", "B3"), served},
	{"E57", "a function behind the product", of("A[M/D K] B[N/D K] Bias[N/D] C[M:D N/D]",
		s.Linear("C", "A", "B", s.Bias("Bias"), s.GELU())).eight(true, "B"), served},
	{"E58", "stored into the slots of peers", linear("A[M K/D] B[N K/D] C[M/D N]").eight(true, "B").
		by("C", s.Stores{}), at("Moves[0].Way", "the kernel that multiplies by B of eight bits stores its sums on its "+
		"own rank, as they are (leave Way out, or give both operands eight bits)")},
	{"E59", "added to what a ring brings", linear("A[M K/D] B[N K/D] C[M/D N]").eight(true, "B").
		by("C", s.RingAccumulate{}), at("Moves[0].Way", "the kernel that multiplies by B of eight bits stores its "+
		"sums on its own rank, as they are")},
	{"E60", "tiles", narrowed().eight(true, "B").by("A", s.Tiles{}),
		at("Moves[0].Way", "no kernel of its way takes the scales of B along")},
	{"E61", "balanced rows", balanced(linear("A[M/D K] B[N K] C[M N]"), "A").eight(true, "B"),
		at("Tensors", "no kernel multiplies uneven rows by B of eight bits (let the ranks have equal parts)")},

	{"E70", "rows of e5m2", gatheredEight(true).e5m2("A"), served},
	{"E71", "a weight of e5m2", gatheredEight(true).e5m2("B"), served},
	{"E72", "rows of e5m2, one scale", gatheredEight(false).e5m2("A"), served},
	{"E73", "sums of products of e5m2", linear("A[M K/D] B[N K/D] C[M/D N]").eight(true, "A", "B").e5m2("A"), served},
	{"E74", "of what is quantised", of("A[M K/D] Q[M K/D] B[N K/D] C[M/D N]", s.Copy("Q", "A", s.QuantiseE5M2()),
		s.Linear("C", "Q", "B")).inParts("Q").eight(true, "B").e5m2("Q"), served},
	{"E75", "e5m2 on both sides", gatheredEight(true).e5m2("A", "B"), at("Ops[0].In[1]",
		"A and B are e5m2, and no library multiplies e5m2 by e5m2 (let one of them be e4m3, or make 16 bits of one by "+
			"a schedule.Copy with schedule.Dequantise)")},
	{"E76", "a weight alone, of e5m2", narrowed().eight(true, "B").e5m2("B"), at("Ops[0].In[1]",
		"B alone has eight bits, and the kernel that multiplies by such a weight widens e4m3 (let B be e4m3, or "+
			"quantise A too)")},
	{"E78", "by blocks", gatheredEight(true).e5m2("A").changed("SA", func(t *s.Tensor) {
		t.Axes = append(t.Axes, s.Dim(s.Blocks(s.K, 128)))
	}), at("Ops[0].In[0]", "products take e4m3 and e5m2 with scales of rows, one block behind another, or one, and SA "+
		"of e5m2 [DIDx(D), M/D, K] times SA is [DIDx(D), M/D, K/128]")},
}

// e5m2 is the form with tensors of eight bits that have five of them for the exponent.
func (f form) e5m2(tensors ...string) form {
	for _, name := range tensors {
		f = f.changed(name, func(t *s.Tensor) { t.Type = s.E5M2 })
	}
	return f
}

// narrowed is the layer with rows that travel.
func narrowed() form { return linear("A[M/D K] B[N/D K] C[M:D N/D]") }
