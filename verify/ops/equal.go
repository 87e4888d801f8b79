package ops

import "slices"

// Equal reports whether two operations are the same in every field but Node, which a recorded operation does not have.
func (o Op) Equal(p Op) bool {
	return o.Kind == p.Kind && o.Stream == p.Stream && o.Event == p.Event && o.Kernel == p.Kernel &&
		o.Count == p.Count && o.ByBlocks == p.ByBlocks && o.Part == p.Part && o.AtOnce == p.AtOnce &&
		o.Form == p.Form && o.Columns == p.Columns && o.LeavesScales == p.LeavesScales && o.Launch == p.Launch &&
		o.ScaledTerms == p.ScaledTerms && o.Scaled == p.Scaled && o.Scales == p.Scales && o.Codes == p.Codes &&
		o.InBlocks == p.InBlocks &&
		o.InOrder == p.InOrder && o.Accumulate == p.Accumulate && o.To == p.To && o.From == p.From &&
		o.Early == p.Early && o.Step == p.Step &&
		slices.Equal(o.Words, p.Words) && slices.Equal(o.Uses, p.Uses) && slices.Equal(o.Lies, p.Lies) &&
		slices.Equal(o.Heads, p.Heads)
}
