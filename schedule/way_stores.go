package schedule

// Stores lets each product write its partial result over the link into a slot at its owner,
// which adds its slots up once, in the order of ranks.
type Stores struct {
	// Streams of the products, which steps take in turn.
	Streams int `zero:"one for each step" most:"64"`
	// Equal gives the products of all steps one priority; else an earlier step has a higher priority.
	Equal   bool
	Signals StepSignaller `zero:"one kernel" decides:"launches"`
}

func (Stores) way() Facts { return Facts{Sums: true, OneProduct: true} }
