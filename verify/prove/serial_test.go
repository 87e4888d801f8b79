package prove_test

import (
	"errors"
	"strings"
	"testing"

	"ovgen/verify/prove"
)

// Two ranks, each with two branches that nothing orders: one waits, the other posts
// what the peer's wait needs. Devices that run one operation at a time deadlock when
// both take the wait first: always where it is enqueued first, in a captured graph in
// either case.
func TestSerialBranches(t *testing.T) {
	for _, test := range []struct {
		name            string
		ranks           []string
		eager, captured bool // safe
	}{
		{"wait enqueued first", []string{
			"a < main; b < main; a wait x 1; b post x 1; main < a; main < b; main post y 1; main wait y 1",
			"a < main; b < main; a wait x 0; b post x 0; main < a; main < b; main post y 0; main wait y 0"}, false,
			false},
		{"post enqueued first", []string{
			"a < main; b < main; b post x 1; a wait x 1; main < a; main < b; main post y 1; main wait y 1",
			"a < main; b < main; b post x 0; a wait x 0; main < a; main < b; main post y 0; main wait y 0"}, true,
			false},
		{"post before the fork", []string{
			"main post x 1; a < main; a wait x 1; main < a; main post y 1; main wait y 1",
			"main post x 0; a < main; a wait x 0; main < a; main post y 0; main wait y 0"}, true, true},
		{"one of them posts first", []string{
			"main post x 1; a < main; a wait x 1; main < a; main post y 1; main wait y 1",
			"a < main; b < main; a wait x 0; b post x 0; main < a; main < b; main post y 0; main wait y 0"}, true,
			true},
		{"by one kernel each", []string{
			"main post! x 1; a < main; a wait! x 1; main < a; main post! y 1; main wait! y 1",
			"main post! x 0; a < main; a wait! x 0; main < a; main post! y 0; main wait! y 0"}, true, true},
		{"post enqueued first, one kernel waits", []string{
			"a < main; b < main; b post x 1; a wait! x 1; main < a; main < b; main post y 1; main wait y 1",
			"a < main; b < main; b post x 0; a wait x 0; main < a; main < b; main post y 0; main wait y 0"}, false,
			false},
	} {
		t.Run(test.name, func(t *testing.T) {
			lists := parse(t, test.ranks...)
			size, err := prove.Lists(t.Context(), needed(model, lists), lists, 0)
			var wrong *prove.Counterexample
			switch {
			case test.eager && err != nil:
				t.Fatal(err)
			case test.eager:
				if safe := size.Captured == nil; safe != test.captured {
					t.Errorf("safe when captured: %t, want %t", safe, test.captured)
				} else if !safe && (size.Captured.Property != prove.Serial || size.Captured.Form != "captured") {
					t.Error(size.Captured)
				}
			case !errors.As(err, &wrong) || wrong.Property != prove.Serial:
				t.Errorf("got %v, want a program that is not serial-safe", err)
			case (wrong.Form == "captured") != strings.Contains(test.name, "kernel waits"):
				t.Errorf("not serial-safe when %s: %v", wrong.Form, err)
			case wrong.Form == "captured" && !strings.Contains(wrong.Suggestion, "let stream a wait for b ahead of "+
				"wait x[1]@0 == 1, or use ways by which no kernel waits (kernels of the program wait)"):
				t.Error(wrong.Suggestion)
			}
		})
	}
}
