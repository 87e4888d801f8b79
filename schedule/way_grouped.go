package schedule

// Grouped is Pull with three products: of the own shard, of those of the ranks after it, and
// of those before it.
type Grouped struct {
	By Carrier `zero:"copy engine"`
}

func (Grouped) way() {}
