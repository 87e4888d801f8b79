package schedule

// PushTwoShot is TwoShot with packets, without a meeting of the ranks: one kernel sends each rank its part of the
// partial results, adds up the parts that land in the order of ranks, and sends the sum to all ranks. A rank sends
// 2(D-1)/D of the data, where PushShot sends D-1 times the data, and waits twice for packets; so it pays from three
// ranks on. Each plan has memory for twelve times the data.
//
// With Rows a part is of whole rows, which have an owner: it adds them up and applies the functions of rows that
// follow, such as a norm, and sends the results that all ranks need, each as packets of its own. So a row is normed
// once, and not by every rank. A sum that the schedule does not keep stays with its owner. One that it keeps travels
// beside the results of the functions: a rank then sends 3(D-1)/D of the data, which by the cost model takes less than
// a norm of all rows by every rank up to some 4 MiB, and more above; leave Rows out there. The ranks must divide the
// rows: fewer rows than ranks take another way.
type PushTwoShot struct{ Rows bool }

func (w PushTwoShot) way() Facts {
	return Facts{Sums: true, TwoShots: true, Lands: true, SendsMade: w.Rows, Estimate: "TwoShotPackets"}
}
