package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

// sweptForm is the form of a name.
func sweptForm(of []swept, name string) form {
	for _, x := range of {
		if x.name == name {
			return x.form.types(s.BF16, s.FP16)
		}
	}
	return form{}
}

// sweptFinds are schedules of the sweep of which a checker refused the program.
var sweptFinds = []struct {
	what string
	form
}{
	// Memory of partial results that leave whole is in the parts that rows come in, whatever their sum adds.
	{"rows in parts over hosts, which the sum adds", sweptForm(evenForms, "gated MLP").onHosts().
		by("A", s.Rails{Parts: 2})},
	{"the same with a sum in parts before", sweptForm(evenForms, "block").onHosts().by("X", s.Rails{Parts: 3}).
		by("R", s.Rails{Parts: 3})},
	// Copies of a weight that wait for the peers' are no posts that peers may do without.
	{"a weight that is pushed behind one by packets", sweptForm(evenForms, "weights that come").
		by("Up", s.PushGather{}).by("Down", s.Push{})},
	{"one behind a collective", sweptForm(evenForms, "weights that come").by("Up", s.Push{}).by("Gate", s.NCCL{}).
		by("Down", s.Push{})},
	// The streams of two stages are as many as either has, whatever number products share.
	{"three streams beside two", sweptForm(evenForms, "gathers around a layer").by("A", s.Grouped{}).
		by("E", s.Ring{Direction: s.Both}).by("C", s.Slots{Streams: 3})},
	{"more streams than sums that begin have", sweptForm(evenForms, "a sum beside a gather").
		by("E", s.Push{Parts: 3, By: s.OneKernel}).by("C", s.Stores{Equal: true})},
}

// TestSweptFinds: both checkers accept them, as graphs too.
func TestSweptFinds(t *testing.T) {
	for _, x := range sweptFinds {
		b := lowering(lower.Lower).become(t, x.Schedule, []int{1, 2, 3}, true)
		if b.wrong != "" || !b.proven || !b.graph {
			t.Errorf("%s: %+v", x.what, b)
		}
	}
}
