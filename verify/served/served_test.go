package served

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// declared is a schedule as somebody declares it, and what becomes of it.
type declared struct {
	id, what string
	form
	verdict
}

// form is the schedule.
type form struct{ schedule.Schedule }

// Operations of the usual names on tensors that scheduletest.Tensors reads.
func linear(tensors string) form   { return usual("linear", tensors) }
func matmul(tensors string) form   { return usual("matmul", tensors) }
func gradient(tensors string) form { return usual("gradient", tensors) }
func mlp(tensors string) form      { return usual("mlp", tensors) }
func sum(tensors string) form      { return usual("sum", tensors) }
func moved(tensors string) form    { return usual("copy", tensors) }

func usual(kind, tensors string) form {
	list := scheduletest.Tensors(tensors)
	return form{schedule.Schedule{Tensors: list, Ops: scheduletest.Ops(kind, list)}}
}

// of is other operations.
func of(tensors string, ops ...schedule.Op) form {
	return form{schedule.Schedule{Tensors: scheduletest.Tensors(tensors), Ops: ops}}
}

// function is a function of an operation of x that no formula has.
func function(do schedule.Do) []schedule.Func {
	return []schedule.Func{{Is: schedule.Expr{Do: do, Of: []schedule.Expr{schedule.X}}}}
}

// by is the form with a way of a tensor, and types with element types.
func (f form) by(of string, w schedule.Way) form {
	f.Moves = append(f.Moves, schedule.Move{Of: of, Way: w})
	return f
}

func (f form) types(list ...schedule.Type) form {
	f.Types = list
	return f
}

// verdict is what becomes of a schedule.
type verdict struct {
	outcome
	path, why string // of a refusal: the field, and a part of what is said
	lacks     string // of a schedule without words: the option that no way has
}

// outcome counts verdicts of a kind.
type outcome string

const (
	isServed  outcome = "served"
	isUnsaid  outcome = "without words, the nearest served"
	isRefused outcome = "refused"
)

// served: lowered and proven.
var served = verdict{outcome: isServed}

// unsaid: the way that the row has instead has no option of that name, so that it can't be asked for; what the row
// says without it is served.
func unsaid(option string) verdict { return verdict{outcome: isUnsaid, lacks: option} }

// at: refused, rightly, at the field, in these words.
func at(path, why string) verdict { return verdict{outcome: isRefused, path: path, why: why} }

// all are the schedules by kind.
var all = slices.Concat(columns, rows, pipelines, layers, alone, bare, odd, eights, unbatched)

// TestDeclared holds each schedule against its verdict and prints how many there are of each.
func TestDeclared(t *testing.T) {
	count := map[outcome]int{}
	for i := range all {
		d := &all[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s %s: %v", d.id, d.what, err)
		}
		count[d.outcome]++
	}
	var text []string
	for _, o := range []outcome{isServed, isUnsaid, isRefused} {
		text = append(text, fmt.Sprintf("%d %s", count[o], o))
	}
	t.Logf("%d schedules: %s", len(all), strings.Join(text, "; "))
}

// TestDistinct: a schedule stands once, or once for each option that it lacks words for.
func TestDistinct(t *testing.T) {
	ids, lacking := map[string]bool{}, map[string][]string{}
	for _, d := range all {
		if ids[d.id] {
			t.Errorf("two schedules are %s", d.id)
		}
		ids[d.id] = true
		text := fmt.Sprintf("%#v", d.Schedule)
		if others, found := lacking[text]; found && (slices.Contains(others, d.lacks) || slices.Contains(others, "") ||
			d.lacks == "") {
			t.Errorf("%s, %s, stands there already", d.id, d.what)
		}
		lacking[text] = append(lacking[text], d.lacks)
	}
}

// holds says what differs from the verdict. The report is of a schedule that is served.
func (d *declared) holds(t *testing.T) (*prove.Report, error) {
	report, err := d.become(t)
	switch {
	case d.lacks != "" && hasOption(d.Moves[0].Way, d.lacks):
		return nil, fmt.Errorf("%s has an option %s", schedule.WayName(d.Moves[0].Way), d.lacks)
	case d.path == "":
		return report, err
	case err == nil:
		return nil, errors.New("it is served")
	}
	for _, e := range schedule.FieldErrors(err) {
		if e.Path == d.path && strings.Contains(e.Error(), d.why) {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("got %w\nwant %s: ... %s", err, d.path, d.why)
}

// become lowers a schedule and proves it.
func (d *declared) become(t *testing.T) (*prove.Report, error) {
	p, err := lower.Lower("X", d.Schedule)
	if err != nil {
		return nil, err
	}
	ranks := []int{2, 4}
	if sampling.All() {
		ranks = []int{1, 2, 4, 8}
	}
	return prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks})
}

// hasOption says whether a way has a field of that name.
func hasOption(w schedule.Way, name string) bool {
	_, ok := reflect.TypeOf(w).FieldByName(name)
	return ok
}
