package schedule

// RingSum sends the sum of each rank's rows once round the ring: a kernel reads the sum so far from the rank before
// and adds this rank's partial result, a part of its gradient or a term that the caller has. Where every rank gets the
// sums of all rows, each rank then copies those of the others from their owners.
type RingSum struct {
	// Streams of the products, which steps take in turn.
	Streams int       `zero:"one for each step" most:"64"`
	Signals Signaller `zero:"stream memory operations" decides:"launches"`
}

func (RingSum) way() Facts { return Facts{Sums: true, Unordered: true} }

// RingAccumulate is RingSum in which the sum so far is copied to the memory to which the product adds.
type RingAccumulate struct {
	By Carrier `zero:"copy engine" decides:"launches"`
}

func (RingAccumulate) way() Facts { return Facts{Sums: true, Unordered: true} }
