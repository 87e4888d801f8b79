package explain

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
)

// TestEight: what makes eight bits leaves scales, what reads them has these, and they travel.
func TestEight(t *testing.T) {
	called := catalog.LinearAllReduceQuantised
	called.Ops = []schedule.Op{schedule.Call("Codes", "Own", "mk->mk", "A"), called.Ops[1]}
	for _, c := range []struct {
		name string
		s    schedule.Schedule
		want []string
	}{
		{"LinearAllReduceQuantised", catalog.LinearAllReduceQuantised, []string{
			"of its A, into its Codes and its Scales",
			"multiplies its Codes by its B transposed, scaled by its Scales and its ScaleB, into"}},
		{"AllReduceNormQuantised", catalog.AllReduceNormQuantised, []string{
			"applies quantise to 32.0 KiB of its C, into its Codes and its Scales"}},
		{"AllGatherLinearFP8", catalog.AllGatherLinearFP8, []string{
			"copies 256 bytes of rank 1's ScaleA", "copies 8.0 KiB of rank 1's A into",
			"scaled by part 1 of its ScaleAgathered and its ScaleB"}},
		{"ReduceScatterQuantised", catalog.ReduceScatterQuantised, []string{
			"sums part 0 of its Codes and part 1 of its slots, scaled by part 0 of its Scales and part 1 of its " +
				"Scalesslots, into its C"}},
		{"LinearReduceScatterQuantised", catalog.LinearReduceScatterQuantised, []string{
			"multiplies part 1 of its A by its B transposed, into part 1 of its P",
			"applies quantise to 16.0 KiB of part 1 of its P (rounded before), into part 1 of its Codes and part 1 " +
				"of its Scales"}},
		{"Called", called, []string{"calls the caller's Own with its A, into its Codes and its Scales"}},
	} {
		p, err := lower.Lower(c.name, c.s)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(written(t, p, sized(2, 0))), " ")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
	}
}
