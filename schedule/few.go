package schedule

import "slices"

// fewRows are the numbers of rows for which kernels have room.
var fewRows = []int{8, 16, 32, 64}

// checkFewRows refuses a number of rows for which no kernel has room.
func (s Schedule) checkFewRows(v *validation) {
	if s.FewRows != 0 && !slices.Contains(fewRows, s.FewRows) {
		v.add("FewRows", "say 8, 16, 32 or 64, or leave it out", "no kernel takes products of at most %d rows",
			s.FewRows)
	}
}
