package schedule

import "slices"

// fewRows are the rows that kernels have room for.
var fewRows = []int{8, 16, 32, 64}

// checkFewRows refuses a number of rows that no kernel ends at.
func (s Schedule) checkFewRows(v *validation) {
	if s.FewRows != 0 && !slices.Contains(fewRows, s.FewRows) {
		v.add("FewRows", "say 8, 16, 32 or 64, or leave it out", "no kernel takes products of at most %d rows",
			s.FewRows)
	}
}
