package same

import (
	"errors"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/verify/same/old"
)

// errUnfit says that no shape fits both programs on meshes of some sizes.
var errUnfit = errors.New("compare programs: no shape fits both")

// Verdict is what becomes of a schedule, before and after.
type Verdict struct {
	Result
	Refused, Newly bool     // it is refused; it was not, or the other way round
	Was, Err       error    // why it was refused by both, and why it is, or was
	Ways           []string // of the program as it is lowered
}

// Lower lowers a schedule as it was lowered and as it is, and compares the programs on meshes of these sizes. A
// schedule that both refuse in the same fields is the same.
func Lower(s schedule.Schedule, ranks ...int) (v Verdict, err error) {
	if newer(s) {
		return v, errNewer
	}
	before, was := old.Lower("X", s)
	after, is := lower.Lower("X", s)
	switch {
	case was != nil && is != nil:
		v.Refused, v.Was, v.Err = true, was, is
		if a, b := fields(was), fields(is); a != b {
			v.Grade, v.Why = Other, fmt.Sprintf("%v\nbecomes %v", was, is)
		}
		return v, nil
	case was != nil:
		return Verdict{Newly: true, Err: was}, nil
	case is != nil:
		return Verdict{Refused: true, Newly: true, Err: is}, nil
	case s.Scaled(): // the frozen copy multiplies without scales
		return Verdict{Newly: true}, nil
	}
	for _, m := range after.Schedule.Moves {
		v.Ways = append(v.Ways, schedule.WayName(m.Way))
	}
	cases := Cases(before, after, ranks...)
	if len(cases) == 0 {
		return v, errUnfit
	}
	v.Result, err = Compare(before, after, cases)
	return v, err
}

// NoShape is the count of schedules whose programs fit no shape that is tried, such as of odd constants.
const NoShape = "of no shape"

var errNewer = errors.New("the frozen copy can't read the schedule")

// newer says that a schedule has what the frozen copy does not read: it multiplies by the library, in any order, and
// its calls make all rows.
func newer(s schedule.Schedule) bool {
	return s.FewRows || s.Invariant || slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Makes != "" })
}

// Tally counts verdicts.
type Tally map[string]int

// Take counts the verdict of a schedule on meshes of some sizes. The error is of one that nobody expects.
func (t Tally) Take(s schedule.Schedule, ranks ...int) error {
	v, err := Lower(s, ranks...)
	switch {
	case errors.Is(err, errUnfit):
		t[NoShape]++
		return nil
	case errors.Is(err, errNewer):
		t["unknown before"]++
		return nil
	case err != nil:
		return err
	case v.Refused && formulas(s):
		t["refused, unknown before"]++
		return nil
	case v.Newly && v.Refused:
		t["newly refused"]++
	case v.Newly:
		t["newly lowered"]++
	case v.Refused:
		t["refused, "+v.Grade.String()]++
	default:
		t[v.Grade.String()]++
	}
	if v.Expected() {
		return nil
	}
	return fmt.Errorf("by %v it is %s: %s, %v", v.Ways, v.Grade, v.Why, v.Err)
}

// formulas says that a schedule has functions without names, of which the frozen copy knows none, or of fp32 otherwise
// than it had them.
func formulas(s schedule.Schedule) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		return slices.ContainsFunc(o.Then, func(f schedule.Func) bool {
			name, _ := f.Is.InLibrary()
			return name == ""
		})
	})
}
