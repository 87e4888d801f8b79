package served

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
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
	for _, l := range [][]declared{all, across, amiss, blocks, calls, casts, chains, countedProducts, formulas,
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
	lowered, proven, hole bool
	explored              bool
	wrong                 string // a defect: empty is none
}

// hole is what the prover says of schedules that are lowered, and should not be or should be proven.
type hole struct {
	says  *regexp.Regexp
	alone bool // the explorer finds nothing wrong
	why   string
}

// holes are all that are known.
var holes = []hole{
	{regexp.MustCompile("operations move or multiply one at a time|no chunks of one rank's|\"gradient\" of operands"),
		true, "the prover follows an operand whose rows and whose columns travel, or that a gradient takes whole, " +
			"only where all that takes it cuts it alike"},
	{regexp.MustCompile("of which a sum takes rows, and the ranks need not divide the rows"), true,
		"the prover reads rows of summands of codes only where nothing else is made of all rows"},
	{regexp.MustCompile("cut into other parts"), true,
		"a kernel by blocks stands behind another one that cuts the same rows otherwise, on one stream"},
	{regexp.MustCompile("one operation at a time"), false,
		"two communications that do not need each other wait for peers on two streams, and kernels wait beside them: " +
			"both checkers refuse it, and no rule of lowering says so"},
}

// known says that a refusal of the prover is a hole.
func known(err, explored error) bool {
	return slices.ContainsFunc(holes, func(h hole) bool {
		return h.says.MatchString(err.Error()) && (!h.alone || explored == nil)
	})
}

// become lowers a schedule, proves it for these ranks, if there are some, and explores it where that is cheap. A panic
// is a defect.
func become(t *testing.T, x s.Schedule, ranks []int) (b became) {
	defer func() {
		if e := recover(); e != nil {
			b.wrong = fmt.Sprintf("a panic: %v\n%s", e, debug.Stack())
		}
	}()
	p, err := lower.Lower("X", x)
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
		l, other := explore.Small(p, ranks, false)
		if b.hole = known(err, other); !b.hole {
			b.wrong = fmt.Sprintf("lowered, refused by the prover, and the explorer says of %v ranks %v: %v", l, other,
				err)
		}
		return b
	}
	b.proven = true
	if large(explore.ShapeOf(p, 2)) {
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

// seed of the changes that are drawn; 0 is another one each time.
var seed = flag.Uint64("changes", 1, "the seed of the changes of schedules; 0 is another one each time")

// TestChanges changes one thing of schedules as users would: it meets a program that both checkers accept, or a refusal
// in a schedule's words. It draws some changes; where OVGEN_SOAK is set it lowers all, and proves one in twenty.
func TestChanges(t *testing.T) {
	sampling.Test(t, 0, 3)
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
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
type tally struct{ Changed, Lowered, Proven, Explored, Holes, Wrong int }

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
	b := become(t, x, ranks)
	n.Changed++
	for _, c := range []struct {
		is bool
		n  *int
	}{{b.lowered, &n.Lowered}, {b.proven, &n.Proven}, {b.explored, &n.Explored}, {b.hole, &n.Holes},
		{b.wrong != "", &n.Wrong}} {
		if c.is {
			*c.n++
		}
	}
	if b.wrong == "" || n.Wrong > 20 {
		return
	}
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s, %s: %s\nthe schedule, of -changes %d: %s", from, change, b.wrong, *seed, text)
}
