package schedule

// Grouped is Pull with three products: of the rank's shard, of the shards of later ranks, and of the shards of earlier
// ranks.
type Grouped struct {
	By Carrier `zero:"copy engine" decides:"launches"`
}

func (Grouped) way() Facts { return Facts{Travels: true} }
