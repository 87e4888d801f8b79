package schedule

// Ring passes shards on: each step copies from a neighbour the shard that the neighbour got in the step before.
type Ring struct {
	Direction Direction `zero:"forward"`
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// WithStep copies a shard on the stream of its product, not on a separate stream.
	WithStep bool
	By       Carrier `zero:"copy engine" decides:"launches"`
}

func (Ring) way() Facts { return Facts{Travels: true, Neighbours: true} }

// PushRing is Ring with pushes: each step copies to a neighbour the shard that came in the step before.
type PushRing struct {
	Direction Direction `zero:"forward"`
	// Streams of the products, which steps take in turn.
	Streams int     `zero:"one for each step" most:"64"`
	By      Carrier `zero:"copy engine" decides:"launches"`
}

func (PushRing) way() Facts { return Facts{Travels: true, Neighbours: true} }
