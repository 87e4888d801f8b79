package schedule

// Shot lets a rank read all partial results over the link and add them in the order of ranks.
type Shot struct {
	Signals StepSignaller `zero:"one kernel" decides:"launches"`
}

func (w Shot) way() Facts {
	return Facts{Sums: true, AllRows: true, Estimate: map[Shot]string{{}: "OneShot"}[w]}
}

// TwoShot is Shot for a rank's rows alone; the other sums are copied from the ranks that made them.
type TwoShot struct {
	By StepCarrier `zero:"one kernel" decides:"launches"`
}

func (w TwoShot) way() Facts {
	return Facts{Sums: true, TwoShots: true, Estimate: map[TwoShot]string{{}: "TwoShot"}[w]}
}
