package schedule

// PushTwoShot is TwoShot with packets, without a meeting of the ranks: one kernel sends each rank its part of the
// partial results, adds up the parts that land in the order of ranks, and sends the sum to all ranks. A rank sends
// 2(D-1)/D of the data, where PushShot sends D-1 times the data, and waits twice for packets; so it pays from three
// ranks on. Each plan has memory for twelve times the data.
type PushTwoShot struct{}

func (PushTwoShot) way()  {}
func (PushTwoShot) sums() {}
