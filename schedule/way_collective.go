package schedule

// Collective gathers one chunk of every shard at a time; the stream axis has a step for each chunk.
type Collective struct {
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// WithStep gathers a chunk on the stream of its product, not on a separate stream.
	WithStep bool
	By       Carrier `zero:"copy engine" decides:"launches"`
}

func (Collective) way() Facts { return Facts{Travels: true} }
