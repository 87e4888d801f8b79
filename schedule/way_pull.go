package schedule

// Pull lets each rank copy the parts of others straight from their owners, in the order r+1, r+2, .... Rows are
// multiplied when they are there, the own ones first and in place.
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

// Get and GetColumns are former names of Pull, where no product takes a part of what travels alone.
type (
	Get        = Pull
	GetColumns = Pull
)
