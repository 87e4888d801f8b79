package prove_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// Each field of each schedule of the catalog is set to each of its values. Then what the ranks do changes too, or a
// field is named. Of the changed programs one in six is proven, on 2 ranks or on 3; where OVGEN_SOAK is set all are,
// on both. Values that are another way to write the one that there was are left out.
func TestEveryFieldIsReadOrRefused(t *testing.T) {
	for turned, n := range catalog.All() {
		t.Run(n.Name, func(t *testing.T) {
			sampling.Test(t, turned, 3)
			t.Parallel()
			p, err := lower.Lower("X", n.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			before := carried(t, p)
			changes := scheduletest.Changes(n.Schedule)
			if len(changes) == 0 {
				t.Fatal("nothing of the schedule is changed")
			}
			for i, c := range changes {
				p, err := lower.Lower("X", c.Schedule)
				if err != nil {
					blamed(t, c.Name, []string{c.Item()}, n.Schedule, c.Schedule, err)
					continue
				}
				if carried(t, p) == before && !alike(p.Schedule, n.Schedule) {
					t.Errorf("%s changes nothing", c.Name)
				}
				ranks := []int{1, 2 + i/6%2}
				switch soak := sampling.All(); {
				case soak:
					ranks = []int{1, 2, 3}
				case (i+len(n.Name))%6 > 0:
					continue
				}
				if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks}); err != nil {
					var cut *schedule.FieldError
					if !errors.As(err, &cut) { // a constant that 2 or 3 does not divide
						t.Errorf("%s: %v", c.Name, err)
					}
				}
			}
		})
	}
}

// Over random schedules, each option that is written is named in a refusal or changes what
// the ranks do, and so is a field of any kind that is set to another value.
func TestRandomSchedules(t *testing.T) {
	var of []schedule.Schedule
	for _, n := range catalog.All() {
		of = append(of, n.Schedule)
	}
	drawn := 2_000
	if sampling.All() {
		drawn = 40_000
	}
	r, lowered, changed, chains := rand.New(rand.NewPCG(1, 2)), 0, 0, 0
	seen := map[string]string{} // what schedules do, by their text
	done := func(s schedule.Schedule, p *hostir.Program) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := seen[string(text)]; !ok {
			seen[string(text)] = carried(t, p)
		}
		return seen[string(text)]
	}
	for range drawn {
		random := scheduletest.Random(r, of)
		s := random.Schedule
		p, err := lower.Lower("X", s)
		if err != nil {
			blamed(t, fmt.Sprintf("%+v", s), random.Items, random.From, s, err)
			continue
		}
		lowered++
		if len(s.Ops) > 1 && slices.ContainsFunc(lower.Read(p), byNCCL) {
			chains++
		}
		c := scheduletest.OneOf(r, s)
		if q, err := lower.Lower("X", c.Schedule); err != nil {
			blamed(t, c.Name, []string{c.Item()}, s, c.Schedule, err)
		} else if changed++; done(c.Schedule, q) == done(s, p) && !alike(q.Schedule, p.Schedule) {
			t.Errorf("%s of %+v: %s changes nothing", s.Operation(), s.Moves, c.Name)
		}
		for j, m := range s.Moves {
			for i, w := range scheduletest.Without(m.Way) {
				less := scheduletest.Clone(s)
				less.Moves[j].Way = w
				q, err := lower.Lower("X", less)
				if err == nil && !alike(q.Schedule, p.Schedule) && done(less, q) == done(s, p) {
					t.Errorf("%s: option %d of %+v changes nothing", s.Operation(), i, m)
				}
			}
		}
	}
	t.Logf("%d of %d random schedules are lowered, and %d of those with one field changed", lowered, drawn, changed)
	if least := drawn * 30 / 100; lowered < least {
		t.Errorf("%d of %d random schedules are lowered, fewer than %d", lowered, drawn, least)
	}
	if least := drawn / 200; chains < least {
		t.Errorf("%d random schedules are chains by NCCL, fewer than %d", chains, least)
	}
}

// byNCCL says that a move is NCCL's.
func byNCCL(m lower.Moved) bool {
	_, nccl := m.Way.(schedule.NCCL)
	return nccl
}

// alike reports whether two lowered schedules have the same ways, an option that is left open being
// the one that is taken then.
func alike(a, b schedule.Schedule) bool {
	text := func(s schedule.Schedule) string {
		p, err := lower.Lower("X", s)
		if err != nil {
			return err.Error()
		}
		s, all := p.Schedule, ""
		for _, m := range s.Moves {
			all += m.Of + " " + schedule.WayName(m.Way)
			for _, o := range schedule.Options(m.Way) {
				if o.Value != "1" { // one part is a shard as it is
					all += " " + o.Field + " " + o.Value
				}
			}
		}
		s.Moves = nil
		return fmt.Sprintf("%s %+v", all, s)
	}
	return text(a) == text(b)
}

// lower.Read lists a program's ways with their options.
func TestWaysRead(t *testing.T) {
	for _, test := range []struct {
		name string
		s    schedule.Schedule
		want string
	}{
		{"broadcast", catalog.Broadcast, "A by Pull: By copy engine"},
		{"sums of what peers have", catalog.AllReduceOneShot, "C by Shot: Signals one kernel"},
		{"pulled partial results", catalog.LinearReduceScatterGet, "C by Staged: Buffers 2, By copy engine"},
		{"two layers", catalog.TensorParallelMLP,
			"A by Pull: Parts 1, Streams one for each step, WithStep no, Once no, By copy engine; " +
				"C by Slots: Parts 1, Streams one for each step, Equal no, By copy engine"},
	} {
		p, err := lower.Lower("X", test.s)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range lower.Read(p) {
			var options []string
			for _, o := range m.Options {
				options = append(options, o.Field+" "+o.Value)
			}
			all = append(all, fmt.Sprintf("%s by %s: %s", m.Of, schedule.WayName(m.Way), strings.Join(options, ", ")))
		}
		if got := strings.Join(all, "; "); got != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
	}
}

// carried is the operations of groups of 2, 3 and 4 ranks, and their streams and memory, for
// elements of the first type that is accepted.
func carried(t *testing.T, p *hostir.Program) string {
	t.Helper()
	elements := map[schedule.Type]int64{schedule.BF16: 2, schedule.FP16: 2, schedule.FP32: 4}[p.Schedule.Types[0]]
	var b strings.Builder
	fmt.Fprintf(&b, "accepts %v\n", p.Schedule.Types)
	for d := 2; d <= 4; d++ {
		size := int64(d * 12)
		lists, err := ops.Case{Ranks: d, ElementBits: 8 * elements, Counts: slices.Repeat([]int64{3}, d*d),
			Extents: hostir.Env{"M": size, "K": size, "N": size, "F": size, "W": 2, "P": 3, "N2": size, "N3": size},
		}.Unroll(p)
		if err != nil {
			t.Fatalf("%v\n%s", err, hostir.Print(p))
		}
		for _, list := range lists {
			b.WriteString(ops.Lines(list))
		}
	}
	promised := p.Schedule.Invariant // by what is refused alone, where no product is made in order
	hostir.Steps(p.Body, func(s hostir.Step) {
		if x, calls := s.Do.(hostir.Call); calls {
			b.WriteString(x.Launch.String())
		}
		x, _ := s.Do.(hostir.Product)
		promised = promised && !x.InOrder
	})
	fmt.Fprintf(&b, "refuses other orders %t\n", promised)
	for _, set := range p.Streams {
		fmt.Fprintf(&b, "%+v of %v\n", set, p.Constants)
	}
	for _, x := range p.Buffers {
		fmt.Fprintf(&b, "%s %s %s %s %v %v\n", x.Name, x.Elements, x.Chunk, x.Counts, x.Tensor, p.Checks)
	}
	hostir.Walk(p.Body, func(n hostir.Node) {
		if h, ok := n.(hostir.Share); ok {
			fmt.Fprintf(&b, "handles of %v in the loop\n", h.Buffers)
		}
		if s, ok := n.(hostir.Step); ok && (hostir.Tiled(s.Do) != nil || s.By == hostir.FewRowsKernel) {
			fmt.Fprintf(&b, "tiles of %s\n", hostir.Tiled(s.Do))
		}
	})
	return b.String()
}

// blamed checks that a refusal is of an item that was set to something else, or names it, and
// says what to do. Items are paths: "Tensors[1]".
func blamed(t *testing.T, name string, items []string, before, after schedule.Schedule, err error) {
	t.Helper()
	fields := schedule.FieldErrors(err)
	if len(fields) == 0 {
		t.Errorf("%s: no field is named: %v", name, err)
	}
	found, left := false, extentsOf(after)
	gone := slices.DeleteFunc(extentsOf(before), func(e string) bool { return slices.Contains(left, e) })
	for _, e := range fields {
		if e.Path == "" || e.Msg == "" || e.Hint == "" {
			t.Errorf("%s: a refusal without words or hint: %#v", name, e)
		}
		if strings.HasPrefix(e.Path, "Moves[-1]") {
			t.Errorf("%s: a field is blamed that nobody wrote: %v", name, e)
		}
		found = found || strings.HasSuffix(name, " and Balanced") && movesBalanced(after, e)
		// What an extent was for is blamed where no tensor has it any more.
		found = found || slices.ContainsFunc(wordsOf(e.Msg), func(w string) bool { return slices.Contains(gone, w) })
		for _, item := range items {
			at, _, _ := strings.Cut(e.Path, ".")
			called := append(wordsOf(e.Msg+" "+e.Hint), namesOf(after, at)...)
			found = found || at == item || kindOf(at) == item || at == kindOf(item) ||
				strings.Contains(e.Error(), item) ||
				slices.ContainsFunc(append(namesOf(before, item), namesOf(after, item)...), func(name string) bool {
					return slices.Contains(called, name)
				})
		}
	}
	if !found {
		t.Errorf("%s: other items are blamed: %v", name, err)
	}
}

// movesBalanced says that a refusal is of the way of balanced rows, which may be made of those that were declared.
func movesBalanced(s schedule.Schedule, e *schedule.FieldError) bool {
	for i, m := range s.Moves {
		if e.Path == fmt.Sprintf("Moves[%d].Way", i) && strings.Contains(e.Msg, "balanced rows of "+m.Of+" by ") {
			return true
		}
	}
	return false
}

// kindOf is a path without its number.
func kindOf(item string) string {
	kind, _, _ := strings.Cut(item, "[")
	return kind
}

// wordsOf are the words of a message.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:()[]\"*/", r) })
}

// extentsOf are the extents of a schedule's tensors.
func extentsOf(s schedule.Schedule) (list []string) {
	for _, t := range s.Tensors {
		for _, a := range t.Axes {
			list = append(list, string(a.Extent))
		}
	}
	return list
}

// namesOf are the names by which messages call an item of a schedule: a tensor's own, the
// tensors of an operation and of those beside it, the way and the tensor of a move.
func namesOf(s schedule.Schedule, item string) (list []string) {
	i, _ := strconv.Atoi(strings.Trim(strings.TrimPrefix(item, kindOf(item)), "[]"))
	switch kind := kindOf(item); {
	case kind == "Tensors" && i < len(s.Tensors):
		return []string{s.Tensors[i].Name}
	case kind == "Ops" && i < len(s.Ops):
		list = append(slices.Clone(s.Ops[i].In), s.Ops[i].Out)
		own := slices.Clone(list)
		shared := func(name string) bool { return slices.Contains(own, name) }
		for _, o := range s.Ops { // its index also gives extents of operations that share a tensor with it
			if beside := append(slices.Clone(o.In), o.Out); slices.ContainsFunc(beside, shared) {
				list = append(list, beside...)
			}
		}
		for _, f := range s.Ops[i].Then {
			list = append(list, f.Reads()...)
		}
	case kind == "Moves" && i < len(s.Moves):
		list = []string{s.Moves[i].Of, schedule.WayName(s.Moves[i].Way)}
	}
	return slices.DeleteFunc(list, func(name string) bool { return name == "" })
}
