package schedule

// PushShot is Shot whose ranks send their partial results to all others as soon as they have them, into memory of two
// halves that runs use in turn, and ask nobody first: the link is crossed once. They go as packets, words of data and
// a flag, twice the bytes: that is the fastest way up to half a megabyte. Each plan has memory for four times what all
// ranks send it in a run. With Words the data go as they are, and each block of the kernel sets a word behind its
// part: that is faster from there on.
type PushShot struct{ Words bool }

func (PushShot) way()  {}
func (PushShot) sums() {}
