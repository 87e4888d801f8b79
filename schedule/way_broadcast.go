package schedule

// Broadcast has one root in each step: in step i rank i copies its shard to all other ranks.
type Broadcast struct {
	// Streams of the products, which steps take in turn.
	Streams int     `zero:"one for each step" most:"64"`
	By      Carrier `zero:"copy engine" decides:"launches"`
}

func (Broadcast) way() Facts { return Facts{Travels: true} }
