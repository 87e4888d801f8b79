package catalog

import s "ovgen/schedule"

// AllGatherLinearCollective1 gathers all of A, then multiplies it: the serial form,
// nothing overlaps. Choose it below about a thousand rows, where one product of all
// rows beats D smaller ones by more than the gather costs; tuning compares it.
var AllGatherLinearCollective1 = collective("1")

// AllGatherLinearCollective2 is AllGatherLinearCollective8 in two chunks, for shapes
// whose product does not fill the device in eighths.
var AllGatherLinearCollective2 = collective("2")

// AllGatherLinearCollective8 cuts every shard into eight chunks and gathers a chunk of
// all ranks by one collective while the one before is multiplied: the pipeline on a
// stream axis of nvFuser's pull request 4217. The products take rows of all ranks at
// once, so their size does not depend on D; no rank has rows to multiply before the
// first collective ends.
var AllGatherLinearCollective8 = collective("8")

// collective is a linear layer in a number of chunks, on four streams taken in turn.
func collective(n s.Extent) s.Schedule {
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.Split{Kind: s.Plain, Count: n}, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
			{Name: "Bias", Axes: []s.Axis{s.Dim(s.N)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(n), s.Split{Kind: s.Plain, Count: s.D}), s.Dim(s.N)}},
		},
		Ops:   linear,
		Moves: []s.Move{{Of: "A", Way: s.Collective{Streams: 4, WithStep: true}}},
	}
}
