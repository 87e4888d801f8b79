package schedules

import (
	"slices"

	s "ovgen/schedule"
)

// DecodeBlocks, BiasedBlocks and NormedBlocks are Decode, Biased and Normed by weights of eight bits with a scale for
// each square of 128 x 128, as DeepSeek's checkpoints and Qwen3's have them. What products read has eight bits too, and
// a scale for each 128 columns of a row: a copy makes them, since no call makes scales of blocks, nor does a norm's
// kernel.
var (
	DecodeBlocks = blocks(Decode)
	BiasedBlocks = blocks(Biased)
	NormedBlocks = blocks(Normed)
)

// blocks is a layer of few rows by such weights.
func blocks(layer s.Schedule) s.Schedule {
	var more []s.Tensor
	layer = weights(layer, func(t *s.Tensor) {
		t.Type, t.Scale, t.Constant = s.E4M3, "Scale"+t.Name, false
		more = append(more, s.Tensor{Name: t.Scale, Axes: []s.Axis{inSquares(t.Axes[0]), inSquares(t.Axes[1])},
			Type: s.FP32})
	})
	tensors := append(slices.Clip(layer.Tensors), s.Tensor{Name: "Y", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K)}})
	var ops []s.Op
	for _, o := range layer.Ops {
		if o.Call != "" {
			ops = append(ops, o)
			continue
		}
		read, codes := o.In[0], o.In[0]+"8"
		if !slices.ContainsFunc(ops, func(made s.Op) bool { return made.Out == codes }) {
			of := tensors[slices.IndexFunc(tensors, func(t s.Tensor) bool { return t.Name == read })].Axes
			more = append(more, s.Tensor{Name: codes, Axes: of, Type: s.E4M3, Scale: "Scale" + codes},
				s.Tensor{Name: "Scale" + codes, Axes: []s.Axis{inSquares(of[1]), of[0]}, Type: s.FP32})
			ops = append(ops, s.Copy(codes, read, s.Quantise().PerHead("128")))
		}
		o.In = []string{codes, o.In[1]}
		ops = append(ops, o)
	}
	layer.Tensors, layer.Ops, layer.FewRows = slices.Concat(layer.Tensors, more), ops, 0
	return layer
}

// inSquares is an axis of scales, with an index for each 128 of another one.
func inSquares(a s.Axis) s.Axis { return s.Axis{Extent: s.Blocks(a.Extent, 128), Outer: a.Outer} }
