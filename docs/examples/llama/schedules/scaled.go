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
func codesOf(rows, gated s.Axis) (list []s.Tensor) {
	for _, t := range []s.Tensor{
		{Name: "X8", Axes: []s.Axis{rows, s.Dim(s.K)}},
		{Name: "O8", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N, s.DIDx(s.D))}},
		{Name: "Y8", Axes: []s.Axis{rows, s.Dim(s.K)}},
		{Name: "G8", Axes: []s.Axis{gated, s.Dim(s.F, s.DIDx(s.D))}},
	} {
		t.Type, t.Scale = s.E4M3, "Scale"+t.Name
		scale := s.Tensor{Name: t.Scale, Axes: t.Axes[:1:1], Type: s.FP32}
		if len(t.Axes[1].Outer) > 0 {
			scale.Axes = append(scale.Axes, s.Dim(s.D, s.DIDx(s.D)))
		}
		list = append(list, t, scale)
	}
	return list
}

// scaled is a layer of few rows whose products read codes: of X, of what calls make, and of the norm between the two
// sums, which becomes one of eight bits.
func scaled(layer s.Schedule) s.Schedule {
	layer.Tensors = slices.Concat(layer.Tensors, codesOf(s.Dim(s.M), s.Dim(s.M)))
	ops := []s.Op{s.Copy("X8", "X", s.Quantise())}
	for _, o := range layer.Ops {
		if o.Call != "" {
			ops = append(ops, o, s.Copy(o.Out+"8", o.Out, s.Quantise()))
			continue
		}
		if o.In = []string{o.In[0] + "8", o.In[1]}; o.Out == "Y" {
			o.Out, o.Then = "Y8", append(slices.Clip(o.Then), s.Quantise())
		}
		ops = append(ops, o)
	}
	layer.Ops = ops
	layer.Moves = []s.Move{{Of: "R", Way: s.PushShot{}}, {Of: "C", Way: s.PushShot{Rows: true}}}
	return layer
}
