package schedule

// Shot lets a rank read all partial results over the link and add them in the order of ranks.
type Shot struct {
	Signals StepSignaller `zero:"one kernel"`
}

func (Shot) way()  {}
func (Shot) sums() {}

// TwoShot is Shot for a rank's rows alone; the other sums are copied from the ranks that made them.
type TwoShot struct {
	By StepCarrier `zero:"one kernel"`
}

func (TwoShot) way()  {}
func (TwoShot) sums() {}
