package schedule

// PushGather is GatherShot in which the ranks send their shards to all others, as PushShot sends partial results. It is
// the fastest way for shards of up to a megabyte or two.
//
// With Rows the kernel that sends rows also makes them, where the function that makes them is of whole rows, such as a
// norm or Quantise; it sends the codes and their scales in one launch, and applies functions of each element, such as
// Dequantise, to the codes of all ranks. Each of its blocks has whole rows, so fewer blocks send where there are few
// rows. The bits are the same.
type PushGather struct{ Rows bool }

func (PushGather) way() Facts { return Facts{Travels: true, Lands: true, Advised: true} }
