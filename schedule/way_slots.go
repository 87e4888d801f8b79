package schedule

// Slots puts each partial result into a slot at its owner, which adds its slots up once, in the order of ranks. Each
// rank multiplies the rows that it owns last. Terms that the caller has are added where they lie, and so is a
// gradient, all of which is made first. Where every rank gets the sums of all rows, each sum is then copied from the
// owner who made it. In a chain of operations, partial results leave while rows for earlier operations still arrive.
type Slots struct {
	// Parts in which a rank's rows travel to all ranks, or in which a rank's rows go on from the sum to the next
	// products: while one part is summed, and normed where a norm follows, the next products take the part before. In
	// the second case, two parts were slower than one on two H200s.
	Parts int `zero:"1" most:"64"`
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// Equal gives the products of all steps one priority; else an earlier step has a higher priority.
	Equal bool
	By    StepCarrier `zero:"copy engine" decides:"launches"`
}

func (Slots) way() Facts { return Facts{Sums: true, Advised: true} }
