package served

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// named is a schedule of a table.
type named struct {
	name string
	form
}

// tables are the schedules of all tables of this package and of the catalog, each once, in one order.
func tables() (list []named) {
	add := func(name string, x s.Schedule) { list = append(list, named{name, form{x}}) }
	for _, l := range [][]declared{all, across, amiss, blocks, calls, casts, chains, countedProducts, drawn, formulas,
		functions, gradients, heads, kernels, notMiddle, notPlaced, quants, squares, summands, summedProducts,
		noTiles, whole} {
		for _, d := range l {
			add(d.id+" "+d.what, d.Schedule)
		}
	}
	for _, l := range []map[string]form{otherWays, middles, keeping, placedBehind} {
		for _, name := range slices.Sorted(maps.Keys(l)) {
			add(name, l[name].Schedule)
		}
	}
	for _, p := range lasts {
		for _, name := range slices.Sorted(maps.Keys(lastFunctions)) {
			add(p.id+" "+name, p.declare(lastFunctions[name]).Schedule)
		}
	}
	for _, x := range engines {
		add(x.name, x.Schedule)
	}
	for _, x := range patterns {
		add(x.id+" "+x.what, x.Schedule)
	}
	for _, x := range stays {
		add(x.name, x.Schedule)
	}
	for _, x := range crossed {
		add(x.name, x.Schedule)
	}
	for _, x := range oneSums {
		add(x.name, x.Schedule)
	}
	for _, x := range leaving {
		add(x.name, x.Schedule)
	}
	for _, x := range overHosts {
		add(x.name, x.Schedule)
	}
	for _, x := range catalog.All() {
		add(x.Name, x.Schedule)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(n named) bool {
		text := fmt.Sprintf("%#v", n.Schedule)
		again := seen[text]
		seen[text] = true
		return again
	})
}

// edits are the changes of a schedule: those of single fields, and those that users make.
func (n named) edits() []edit {
	list := editsOf(n.form)
	for _, c := range scheduletest.Changes(n.Schedule) {
		list = append(list, edit{c.Name, func(form) form { return form{c.Schedule} }})
	}
	return list
}

// became is what becomes of a changed schedule.
type became struct {
	lowered, proven, explored, graph bool
	wrong                            string // a defect: empty is none
}

// lowering makes the program of a schedule.
type lowering func(name string, x s.Schedule) (*hostir.Program, error)

// become lowers a schedule, proves it for these ranks, if there are some, and may explore it where that is cheap. A
// panic is a defect.
func (l lowering) become(t *testing.T, x s.Schedule, ranks []int, explores bool) (b became) {
	defer func() {
		if e := recover(); e != nil {
			b.wrong = fmt.Sprintf("a panic: %v\n%s", e, debug.Stack())
		}
	}()
	p, err := l("X", x)
	if err != nil {
		b.wrong = refusal(err)
		return b
	}
	if b.lowered = true; len(ranks) == 0 {
		return b
	}
	report, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks})
	if err != nil {
		if refusal(err) == "" { // a constant that these ranks do not divide
			return b
		}
		explored, other := explore.Small(p, ranks, false)
		b.wrong = fmt.Sprintf("lowered, refused by the prover, and the explorer says of %v ranks %v: %v", explored,
			other, err)
		return b
	}
	b.proven, b.graph = true, report.Replay()
	if !explores || large(explore.ShapeOf(p, 2)) {
		return b
	}
	explored, err := explore.Small(p, ranks, report.Replay())
	if b.explored = len(explored) > 0; err != nil {
		b.wrong = fmt.Sprintf("proven, and refused by the explorer: %v", err)
	}
	return b
}

// refusal says what is wrong with a refusal: it names no field, or lacks words, or has those of the prover.
func refusal(err error) string {
	list := s.FieldErrors(err)
	if len(list) == 0 {
		return fmt.Sprintf("a refusal without a field: %v", err)
	}
	for _, e := range list {
		if e.Path == "" || e.Msg == "" || e.Hint == "" || strings.Contains(e.Path, "[-1]") ||
			provers.MatchString(e.Msg+" "+e.Hint) {
			return fmt.Sprintf("a refusal in no words of a schedule: %v", e)
		}
	}
	return ""
}

// large says that a program takes the explorer long: its scales are of blocks.
func large(shape ops.Case) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(shape.Extents)), func(n int64) bool { return n >= 100 })
}

// seed of the changes that are drawn.
var seed = flag.Uint64("changes", 0,
	"the seed of the changes of schedules; 0 is 1 or, where OVGEN_SOAK is set, another one each time")

// TestChanges changes one thing of schedules as users would: it meets a program that both checkers accept, or a refusal
// in a schedule's words. It draws some changes; where OVGEN_SOAK is set it lowers all, and proves one in twenty that it
// draws.
func TestChanges(t *testing.T) {
	sampling.Test(t, 0, 3)
	switch {
	case *seed == 0 && sampling.All():
		*seed = uint64(time.Now().UnixNano())
	case *seed == 0:
		*seed = 1
	}
	list, r := tables(), rand.New(rand.NewPCG(*seed, 0))
	var n tally
	if !sampling.All() {
		for range 700 {
			x := list[r.IntN(len(list))]
			e := x.anyEdit(r)
			n.hold(t, x.name, e.name, e.of(x.form).Schedule, true)
		}
	} else {
		for _, x := range list {
			for _, e := range x.edits() {
				n.hold(t, x.name, e.name, e.of(x.form).Schedule, r.IntN(20) == 0)
			}
		}
	}
	t.Logf("%+v, -changes %d", n, *seed)
}

// anyEdit is one of the changes of a schedule, of single fields one time in two.
func (n named) anyEdit(r *rand.Rand) edit {
	if r.IntN(2) == 0 {
		c := scheduletest.OneOf(r, n.Schedule)
		return edit{c.Name, func(form) form { return form{c.Schedule} }}
	}
	list := editsOf(n.form)
	return list[r.IntN(len(list))]
}

// tally counts what became of changed schedules.
type tally struct{ Changed, Lowered, Proven, Explored, Wrong int }

// hold counts a changed schedule, and reports it where something is wrong.
func (n *tally) hold(t *testing.T, from, change string, x s.Schedule, proves bool) {
	t.Helper()
	ranks := []int{2, 3}
	if sampling.All() {
		ranks = []int{1, 2, 3}
	}
	if !proves {
		ranks = nil
	}
	b := lowering(lower.Lower).become(t, x, ranks, true)
	n.Changed++
	count(&n.Lowered, b.lowered)
	count(&n.Proven, b.proven)
	count(&n.Explored, b.explored)
	count(&n.Wrong, b.wrong != "")
	if b.wrong == "" || n.Wrong > 20 {
		return
	}
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s, %s: %s\nthe schedule, of -changes %d: %s", from, change, b.wrong, *seed, text)
}

// TestWrong: a refusal of the prover's, or in its words, is a defect, and so is one without a field, and a panic.
func TestWrong(t *testing.T) {
	x := linear("A[M/D K] B[N K] C[M:D N]").Schedule
	for _, c := range []struct {
		name string
		l    lowering
		want string
	}{
		{"right", lower.Lower, ""},
		{"no wait", func(name string, x s.Schedule) (*hostir.Program, error) {
			p, err := lower.Lower(name, x)
			p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
				if w, signals := s.Signal(); signals && w.Wait {
					return nil
				}
				return []hostir.Node{s}
			})
			return p, err
		}, "lowered, refused by the prover, and the explorer says of"},
		{"the prover's words", func(string, s.Schedule) (*hostir.Program, error) {
			return nil, s.Refused("Ops[0]", "cut it otherwise", "A is 2 chunks")
		}, "a refusal in no words of a schedule"},
		{"no field", func(string, s.Schedule) (*hostir.Program, error) {
			return nil, errors.New("it can't be done")
		}, "a refusal without a field"},
		{"a panic", func(string, s.Schedule) (*hostir.Program, error) { panic("it is over") }, "a panic: it is over"},
	} {
		b := c.l.become(t, x, []int{2}, true)
		if (b.wrong == "") != (c.want == "") || !strings.HasPrefix(b.wrong, c.want) {
			t.Errorf("%s: %q, want %q", c.name, b.wrong, c.want)
		}
	}
}
