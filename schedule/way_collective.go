package schedule

// Collective gathers a chunk of every shard at a time, as many as the stream axis has steps.
type Collective struct {
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// WithStep has a chunk gathered on the stream of its product, not on one of its own.
	WithStep bool
	By       Carrier `zero:"copy engine"`
}

func (Collective) way() {}
