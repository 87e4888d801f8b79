package schedule

// Put lets each rank copy its terms of a sum into slots at their owners, which add their slots up
// once, in the order of ranks. It is Slots where the terms are no products.
type Put struct {
	By Carrier `zero:"copy engine"`
}

func (Put) way()  {}
func (Put) sums() {}
