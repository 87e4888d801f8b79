package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// linked leaves the program to the writer of the chain, which waits for the ways of all communications.
func linked(*draft) error { return nil }

// linkedShot is linked for sums by one kernel, which needs all partial results at once.
func linkedShot(d *draft) error {
	i := slices.IndexFunc(d.chain.stages, func(s stage) bool { return s.sums == d.of })
	s := &d.chain.stages[i]
	if s.pulls() {
		return d.refusal("Signals", "use schedule.LayerSlots, or leave it out",
			"the rows of %s come one rank's after the other", s.input)
	}
	if g := slices.IndexFunc(d.chain.stages[:i], func(s stage) bool { return s.pulls() }); g >= 0 && d.with.signals {
		return d.refusal("Signals", "use schedule.MemOps, or schedule.LayerSlots",
			"a kernel that waits for peers holds the device, and %s is gathered before it", d.chain.stages[g].input)
	}
	if s.widens() {
		return &schedule.FieldError{Path: d.at, Hint: "use schedule.LayerSlots, or leave it out",
			Msg: fmt.Sprintf("no kernel of one shot keeps the sums of %s in fp32", d.of)}
	}
	s.shot = true
	return nil
}
