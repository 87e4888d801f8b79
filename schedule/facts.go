package schedule

import "reflect"

// Facts are what a way, with its options, says of itself. Readers ask for these, and know no way by its name.
type Facts struct {
	Travels    bool // it is for a tensor that travels
	Sums       bool // it is for partial results that have to meet
	Unordered  bool // it adds partial results in another order than that of the ranks
	OneProduct bool // it sums one product: partial results that an operation adds meet apart
	AllRows    bool // one kernel makes all rows of a sum, which is not cut
	TwoShots   bool // ranks sum a part each, which then travels to all
	Multiplies bool // its kernel makes a product
	Library    bool // NVIDIA's library communicates
	Padded     bool // parts travel as chunks of one size
	Lands      bool // a kernel sends what lands in memory of the plan, in two halves
	SendsMade  bool // so do the results of functions behind its sums
	Neighbours bool // a rank reaches the memory of its neighbours in the ring, and of no other rank
	Advised    bool // it serves most schedules, so hints name it before others
	// AtOnce is the option by which one product takes all rows; empty: it is not set.
	AtOnce string
	// Estimate is the name that package tuning has for the time of its sums; empty: nothing estimates them.
	Estimate string
}

// FactsOf are the facts of a way; of none without one.
func FactsOf(w Way) Facts {
	if reflect.ValueOf(w).Kind() != reflect.Struct { // none, or a pointer, which Validate refuses
		return Facts{}
	}
	return w.way()
}

// WaysThat names the ways whose zero values have a fact, as a hint does: "schedule.Slots or schedule.PushShot".
func WaysThat(have func(Facts) bool) (names string) {
	for _, w := range ways {
		switch {
		case !have(FactsOf(w)):
		case names == "":
			names = "schedule." + WayName(w)
		default:
			names += " or schedule." + WayName(w)
		}
	}
	return names
}
