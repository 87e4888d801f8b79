package schedule

// GatherShot lets one kernel of a rank read all shards over the link. If there is a product, one product of all rows
// follows: it reads the weights once, where a product for each shard reads them once a shard. It is the fastest way for
// few rows.
type GatherShot struct{}

func (GatherShot) way() Facts { return Facts{Travels: true} }
