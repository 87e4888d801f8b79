package schedule

// Padded lets uneven parts travel as chunks of the most rows that a part may have; the rows are put together
// afterwards.
type Padded struct {
	By Carrier `zero:"copy engine" decides:"launches"`
}

func (Padded) way() Facts { return Facts{Travels: true, Padded: true} }
