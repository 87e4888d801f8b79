package schedules

import (
	"slices"

	s "ovgen/schedule"
)

// DecodeScaled, BiasedScaled and NormedScaled are DecodeFP8, BiasedFP8 and NormedFP8 for more rows: what products read
// has eight bits too, so that the library multiplies it.
var (
	DecodeScaled = scaled(DecodeFP8)
	BiasedScaled = scaled(BiasedFP8)
	NormedScaled = scaled(NormedFP8)
)

// PrefillScaled is Prefill so: eight bits are gathered, and of the sums that leave 16.
var PrefillScaled = s.Schedule{
	Tensors: slices.Concat(eight(Prefill).Tensors, codesOf(s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.M, s.Stream(s.D)))),
	Ops: []s.Op{
		s.Copy("X8", "A", s.RMSNorm("Norm"), s.Quantise()),
		s.Linear("Query", "X8", "Wq"), s.Linear("Key", "X8", "Wk"), s.Linear("Value", "X8", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"),
		s.Copy("O8", "O", s.Quantise()), s.Linear("R", "O8", "Wo", s.Add("A")),
		s.Copy("Y8", "R", s.RMSNorm("Norm2"), s.Quantise()),
		s.Linear("U", "Y8", "Up"), s.Linear("G", "Y8", "Gate"),
		s.Copy("G8", "G", s.SwiGLU("U"), s.Quantise()), s.Linear("C", "G8", "Down", s.Add("R")),
	},
}

// codesOf are the tensors of eight bits that products read: norms of such rows, and what attention and the gate make,
// of which each rank has columns. A row of these has a scale on each rank.
func codesOf(rows, gated s.Axis) []s.Tensor {
	return slices.Concat(
		eightBits("X8", rows, s.Dim(s.K)), eightBits("O8", s.Dim(s.M), s.Dim(s.N, s.DIDx(s.D))),
		eightBits("Y8", rows, s.Dim(s.K)), eightBits("G8", gated, s.Dim(s.F, s.DIDx(s.D))),
	)
}

// eightBits is a tensor of eight bits, and its scales.
func eightBits(name string, rows, columns s.Axis) []s.Tensor {
	scale := s.Tensor{Name: "Scale" + name, Axes: []s.Axis{rows}, Type: s.FP32}
	if len(columns.Outer) > 0 {
		scale.Axes = append(scale.Axes, s.Dim(s.D, s.DIDx(s.D)))
	}
	return []s.Tensor{{Name: name, Axes: []s.Axis{rows, columns}, Type: s.E4M3, Scale: scale.Name}, scale}
}

// scaled is a layer of few rows whose products read codes: of attention and the gate, which make them themselves, and
// of the norms, which the kernels of the sums quantise. It takes those of X, and makes those of Z, which are the next
// layer's.
func scaled(layer s.Schedule) s.Schedule {
	layer = weights(layer, func(t *s.Tensor) { t.Constant = false })
	layer.Tensors = slices.Concat(slices.DeleteFunc(layer.Tensors, func(t s.Tensor) bool {
		return t.Name == "X" || t.Name == "O" || t.Name == "G"
	}), codesOf(s.Dim(s.M), s.Dim(s.M)), eightBits("Z8", s.Dim(s.M), s.Dim(s.K)))
	var ops []s.Op
	for _, o := range layer.Ops {
		if o.Call == "" {
			o.In = []string{o.In[0] + "8", o.In[1]}
		}
		switch o.Out {
		case "O", "G":
			o.Out += "8"
		case "Z":
			o = o.Keeping("Z", len(o.Then))
			fallthrough
		case "Y":
			o.Out, o.Then = o.Out+"8", append(slices.Clip(o.Then), s.Quantise())
		}
		ops = append(ops, o)
	}
	layer.Ops = ops
	return layer
}
