package schedule

// PushShot is Shot whose ranks send their partial results to all others as soon as they have them, into memory of two
// halves that runs use in turn, and ask nobody first: the link is crossed once. They go as packets, words that are not
// 0 when they are there: that is the fastest way up to a few megabytes. Each plan has memory for six times the data
// that all ranks send it in a run. With Words the data go as they are, and each block of the kernel sets a word behind
// its part: that takes a third of the memory, and is faster from there on. With Rows the blocks of the kernel have
// whole rows, and it makes of the sums what functions of rows behind them say, such as a norm: that saves a launch, and
// fewer blocks send where rows are few. Bits are the same with each. On two and four H100s both take as long below 64
// rows, and with Rows it takes up to a tenth less above.
type PushShot struct{ Words, Rows bool }

func (PushShot) way()  {}
func (PushShot) sums() {}
