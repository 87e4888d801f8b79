package served

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

var update = flag.Bool("update", false, "write the texts of refusals")

// refusals is the file with the texts of all refusals of the engines' schedules.
const refusals = "testdata/refusals.txt"

// TestRefusalsOfEngines holds the text of each refusal. A schedule that is not in the file is accepted.
func TestRefusalsOfEngines(t *testing.T) {
	sampling.Test(t, 2, 3)
	var text strings.Builder
	for _, e := range engines {
		err := accepts(t, e.Schedule)
		for _, x := range s.FieldErrors(err) {
			fmt.Fprintf(&text, "%s: %v\n", e.name, x)
			if said := words(x, e.Schedule); said != "" {
				t.Errorf("%s: %v: %s", e.name, x, said)
			}
		}
		if err != nil && s.FieldErrors(err) == nil {
			t.Errorf("%s: a refusal without a field: %v", e.name, err)
		}
	}
	if *update {
		if err := os.WriteFile(refusals, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(refusals)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("the texts of %s differ (-want +got); -update writes them:\n%s", refusals, diff)
	}
}

// accepts lowers a schedule and proves it for the smallest meshes; what it refuses, New refuses or the proof. Tests ask
// of some schedules more than once: it answers for each text once.
func accepts(t *testing.T, x s.Schedule) error {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	if err, known := accepted[string(text)]; known {
		return err
	}
	p, err := lower.Lower("X", x)
	if err == nil {
		_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3, 4}})
	}
	accepted[string(text)] = err
	return err
}

// accepted has what accepts has answered.
var accepted = map[string]error{}

// provers are words of the prover's, which a user's schedule does not have.
var provers = regexp.MustCompile(`chunk|not shown|expect|\.go\b|@[0-9]|counterexample|belong`)

// words says what a refusal lacks: it names a field that the schedule has and one of its tensors, calls or extents, in
// no words of the prover's.
func words(e *s.FieldError, x s.Schedule) string {
	text := e.Msg + " (" + e.Hint + ")"
	if m := provers.FindString(text); m != "" {
		return fmt.Sprintf("%q is a word of the prover's", m)
	}
	if e.Hint == "" {
		return "it has no hint"
	}
	names := []string{}
	for _, t := range x.Tensors {
		names = append(names, t.Name)
		for _, a := range t.Axes {
			names = append(names, string(a.Extent))
		}
	}
	for _, o := range x.Ops {
		names = append(names, o.Out, o.Call, o.Index)
		for _, f := range o.Then {
			names = append(names, f.Name())
		}
	}
	if !strings.ContainsAny(e.Path, "[") && !slices.ContainsFunc(names, func(n string) bool {
		return n != "" && strings.Contains(e.Msg, n)
	}) {
		return "it names no field or tensor of the schedule"
	}
	return ""
}

// TestHintsOfEngines follows the hint of each refusal until the schedule, or each of two that it becomes, is accepted.
func TestHintsOfEngines(t *testing.T) {
	sampling.Test(t, 1, 3)
	followed := 0
	for _, e := range engines {
		n, err := follow(t, e.Schedule, 6)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		followed += n
	}
	t.Logf("%d hints were followed", followed)
}

// final are hints that end a search: what they ask for is no change of this schedule that a test can make.
var final = regexp.MustCompile(`^(use (one of|linear|at most|a constant|a number|a multiple|schedule\.Linear of|` +
	`schedule\.DIDx|schedule\.Hosts|another (way|name)|the)|name \d|name a tensor|write the same|keep one|` +
	`leave one out|there is|spread the rows|declare Angles|make it before|prove for|leave it out$|cut the|` +
	`call it without|Ops\[\d\] is)`)

// follow follows the first hint, and those of what it leads to. It counts them.
func follow(t *testing.T, x s.Schedule, most int) (int, error) {
	t.Helper()
	complete := declaredAll(t, x)
	err := accepts(t, complete)
	list := s.FieldErrors(err)
	switch {
	case err == nil:
		return 0, nil
	case len(list) == 0:
		return 0, err
	case final.MatchString(list[0].Hint) && !strings.HasPrefix(list[0].Hint, "use schedule.Linear and"):
		return 0, nil
	case most == 0:
		return 0, fmt.Errorf("the hints lead nowhere: %w", err)
	}
	if strings.HasPrefix(list[0].Path, "Tensors") {
		x = complete
	}
	next, err := applied(t, x, list[0])
	if err != nil {
		return 0, errors.Join(list[0], err)
	}
	count := 1
	for _, y := range next {
		n, err := follow(t, y, most-1)
		if err != nil {
			return count, fmt.Errorf("%w\nfollows %w", err, list[0])
		}
		count += n
	}
	return count, nil
}
