package schedule

// Slots puts each partial result into a slot at its owner, which adds its slots up once, in
// the order of ranks. Each rank multiplies its own rows last.
type Slots struct {
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// Equal gives the products of all steps one priority; else an earlier step has a higher one.
	Equal bool
	By    StepCarrier `zero:"copy engine"`
}

func (Slots) way()  {}
func (Slots) sums() {}

// SlotsToAll is Slots for an all-reduce: each sum is then copied from the owner who made it.
type SlotsToAll struct {
	// Parts that a rank's rows travel in.
	Parts int `zero:"1" most:"64"`
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// Equal gives the products of all steps one priority; else an earlier step has a higher one.
	Equal bool
	By    Carrier `zero:"copy engine"`
}

func (SlotsToAll) way()  {}
func (SlotsToAll) sums() {}

// LayerSlots is Slots, or SlotsToAll, in a chain of operations: partial results leave while rows for
// earlier operations still come.
type LayerSlots struct {
	// Parts in which a rank's own rows go on from the sum: while one part is summed, and normed where a norm follows,
	// the next products take the part before. Two were slower than one on two H200s.
	Parts int `zero:"1" most:"64"`
	// Streams of the chain's products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// Equal gives the products of all steps one priority; else an earlier step has a higher one.
	Equal bool
	By    Carrier `zero:"copy engine"`
}

func (LayerSlots) way()  {}
func (LayerSlots) sums() {}
