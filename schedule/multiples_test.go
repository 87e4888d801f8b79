package schedule_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/scheduletest"
)

// What a schedule states of its extents is refused by its field.
func TestMultiples(t *testing.T) {
	heads := scheduletest.Of("linear", scheduletest.Tensors("A[M K] B[N/D K] C[M N/D]")...)
	widths := append(scheduletest.Tensors("A[M K] B[N/D K] C[M N/D]"), schedule.Tensor{Name: "Q",
		Axes: []schedule.Axis{schedule.Dim(schedule.W)}})
	ofHeads := scheduletest.Of("linear", widths...)
	ofHeads.Ops = append(ofHeads.Ops, schedule.Call("O", "Norm", "mn,w->mn", "C", "Q"))
	ofHeads.Tensors = append(ofHeads.Tensors, schedule.Tensor{Name: "O", Axes: widths[2].Axes})
	constant := scheduletest.Of("linear", scheduletest.Tensors("A[M K] B[320/D K] C[M 320/D]")...)
	uneven := scheduletest.Of("copy", scheduletest.Tensors("A[M/D~P N] C[M N]")...)
	for _, test := range []struct {
		s    schedule.Schedule
		e    schedule.Extent
		of   string
		want string // nothing: it is taken
	}{
		{heads, "N", "128*D", ""},
		{heads, "K", "128", ""},
		{heads, "N", "2 * D*4", ""},
		{ofHeads, "N", "W*D", ""},
		{ofHeads, "W", "96", ""},
		{constant, "320", "64", ""},
		{constant, "320", "64*D", ""},
		{heads, "N2", "D", `Multiples[N2]: no axis has the extent "N2" (use an extent of a tensor's axis)`},
		{heads, "Q", "D", `Multiples[Q]: no axis has the extent "Q" (use an extent of a tensor's axis)`},
		{heads, "D", "2", `Multiples[D]: no axis has the extent "D" (use an extent of a tensor's axis)`},
		{constant, "N", "64", `Multiples[N]: no axis has the extent "N" (use an extent of a tensor's axis)`},
		{heads, "N", "", `Multiples[N]: "" is no product of whole numbers, D and W (write it like "128*D")`},
		{heads, "N", "K", `Multiples[N]: "K" is no product of whole numbers, D and W (write it like "128*D")`},
		{heads, "N", "8+D", `Multiples[N]: "8+D" is no product of whole numbers, D and W (write it like "128*D")`},
		{heads, "N", "8*", `Multiples[N]: "8*" is no product of whole numbers, D and W (write it like "128*D")`},
		{heads, "N", "0", `Multiples[N]: "0" is no product of whole numbers, D and W (write it like "128*D")`},
		{heads, "N", "-8", `Multiples[N]: "-8" is no product of whole numbers, D and W (write it like "128*D")`},
		{heads, "N", "D*D", `Multiples[N]: "D*D" has D twice (write it like "128*D")`},
		{heads, "N", "1", `Multiples[N]: every extent is a multiple of 1 (leave it out)`},
		{heads, "N", "W*D", `Multiples[N]: no axis has the extent W of "W*D" (write the number of a head's columns)`},
		{ofHeads, "W", "2*W", `Multiples[W]: W is the width that "2*W" has (leave W out of it)`},
		{heads, "N", "65536*65536", `Multiples[N]: "65536*65536" is too large: no extent is above 1073741824 ` +
			`(write it like "128*D")`},
		{heads, "N", "9223372036854775808", `Multiples[N]: "9223372036854775808" is no product of whole numbers, ` +
			`D and W (write it like "128*D")`},
		{constant, "320", "128", `Multiples[320]: 320 is no multiple of 128 (use another extent)`},
		{uneven, "M", "8", `Multiples[M]: M is spread unevenly, by A: each part has rows of its own (leave it out)`},
	} {
		s := scheduletest.Clone(test.s)
		s.Multiples = map[schedule.Extent]string{test.e: test.of}
		got := ""
		if err := s.Validate(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q:\ngot  %s\nwant %s", test.e, test.of, got, test.want)
		}
	}
}
