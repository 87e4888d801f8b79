package same

import "slices"

// expectation is a grade that programs with a way may have beside same and moved.
type expectation struct {
	Way   string
	Grade Grade
	Of    string // a schedule of the catalogue that has it
	Why   string
}

// expectations are the differences that are meant: the programs are proven and explored all the same.
var expectations = []expectation{}

// Expected says that a schedule's verdict needs no look: it is refused as it was, it is lowered at last, or its program
// has a grade that one of its ways may have.
func (v Verdict) Expected() bool {
	switch {
	case v.Newly:
		return !v.Refused
	case v.Grade <= Moved:
		return true
	}
	return slices.ContainsFunc(expectations, func(e expectation) bool {
		return e.Grade == v.Grade && slices.Contains(v.Ways, e.Way)
	})
}
