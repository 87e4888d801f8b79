package schedule

// Push lets each rank copy its shard into the memory of every other rank, in the order r-1, r-2, ..., so that all links
// are used at once.
type Push struct {
	// Parts in which a shard travels, with a product for each.
	Parts int `zero:"1" most:"64"`
	// Streams of the products, which steps take in turn.
	Streams int         `zero:"one for each step" most:"64"`
	By      StepCarrier `zero:"copy engine" decides:"launches"`
}

func (Push) way() Facts { return Facts{Travels: true} }
