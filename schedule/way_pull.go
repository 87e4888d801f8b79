package schedule

// Pull lets each rank copy the other ranks' parts straight from their owners, in the order r+1, r+2, .... Rows are
// multiplied when they are there; the rank's rows are multiplied first, in place.
type Pull struct {
	// Parts in which a shard travels, with a product for each.
	Parts int `zero:"1" most:"64"`
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// WithStep copies a shard on the stream of its product, not on a separate stream.
	WithStep bool
	// Once multiplies all rows at once, when all shards are there: the weights are read once, and not once a shard.
	Once bool
	By   StepCarrier `zero:"copy engine" decides:"launches"`
}

func (w Pull) way() Facts {
	return Facts{Travels: true, Advised: true, AtOnce: map[bool]string{true: "Once"}[w.Once]}
}
