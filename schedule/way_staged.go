package schedule

// Staged lets owners copy partial results out of staging buffers, which the steps use in turn, and add them up once, in
// the order of ranks. Where every rank gets the sums of all rows, each rank then copies those of the others.
type Staged struct {
	// Buffers, each with a stream of products. All sums of a chain share these streams, so where another one asks for a
	// number of them there are as many buffers.
	Buffers int     `zero:"2" most:"64"`
	By      Carrier `zero:"copy engine" decides:"launches"`
}

func (Staged) way() Facts { return Facts{Sums: true} }
