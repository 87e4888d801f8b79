package schedule

// Pull lets each rank copy the shards of others straight from their owners, in the order
// r+1, r+2, ..., each multiplied when it is there; its own first and in place.
type Pull struct {
	// Parts that a shard travels in, with a product each.
	Parts int `zero:"1" most:"64"`
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// WithStep has a shard copied on the stream of its product, not on one of its own.
	WithStep bool
	// Once multiplies all rows at once, when all shards are there: the weights are read once and not for each shard.
	Once bool
	By   StepCarrier `zero:"copy engine"`
}

func (Pull) way() {}
