package hostir_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/ops"
	"ovgen/verify/sampling"
)

// faithful finds programs that print the same and enqueue different operations.
type faithful struct {
	operations map[string]string // by printed text
	texts      map[string]bool   // of operations
	programs   map[string]*hostir.Program
}

func (f *faithful) see(p *hostir.Program) (wrong string) {
	if hostir.Check(p.Body) != nil {
		return "" // no program
	}
	text := hostir.Print(p)
	if reflect.DeepEqual(f.programs[text], p) {
		return "" // the very same
	}
	operations := enqueued(p)
	if seen, ok := f.operations[text]; ok && seen != operations {
		return fmt.Sprintf("two programs print\n%sand enqueue (-one +other):\n%s", text, cmp.Diff(seen, operations))
	}
	if f.operations == nil {
		f.operations, f.texts, f.programs = map[string]string{}, map[string]bool{}, map[string]*hostir.Program{}
	}
	f.operations[text], f.texts[operations], f.programs[text] = operations, true, p
	return ""
}

// enqueued is the operations of all ranks for two, three and four of them.
func enqueued(p *hostir.Program) string {
	var b strings.Builder
	for d := 2; d <= 4; d++ {
		for r := range d {
			side := int64(48 * d)
			c := ops.Case{Ranks: d, Rank: r, ElementBits: 32, Extents: hostir.Env{"M": side, "K": 2 * side,
				"N": 4 * side, "N2": side, "N3": side, "F": side, "W": 4, "P": side}}
			for i := range d * d {
				c.Counts = append(c.Counts, int64(i+1))
			}
			list, err := ops.Unroll(p, c)
			if err != nil {
				fmt.Fprintf(&b, "%d of %d: %v\n", r, d, err)
			}
			b.WriteString(ops.Lines(list))
		}
	}
	return b.String()
}

// No two programs print the same and enqueue different operations: of the catalog, one in three done in each way with
// each of its options, and of random schedules. Where OVGEN_SOAK is set all are, and more random ones.
func TestPrintIsFaithful(t *testing.T) {
	var f faithful
	var all []schedule.Schedule
	lowered := func(s schedule.Schedule) *hostir.Program {
		p, err := lower.Lower("X", s)
		if err != nil {
			return nil // schedule refused
		}
		if wrong := f.see(p); wrong != "" {
			t.Error(wrong)
		}
		return p
	}
	soak := sampling.All()
	for i, n := range catalog.All() {
		all = append(all, n.Schedule)
		seen := map[schedule.Move]bool{} // a way without an option is among its own ways with each to none
		moves := lowered(n.Schedule).Schedule.Moves
		if i%3 > 0 && !soak || !sampling.Takes(i/3, 3) {
			continue
		}
		for _, m := range moves {
			for _, way := range append(schedule.Ways(), m.Way) {
				for _, w := range scheduletest.With(way) {
					if by := (schedule.Move{Of: m.Of, Way: w}); !seen[by] {
						seen[by] = true
						lowered(scheduletest.By(n.Schedule, m.Of, w))
					}
				}
			}
		}
	}
	if len(f.operations) < 100 {
		t.Errorf("only %d programs were seen", len(f.operations))
	}
	before, drawn := len(f.operations), 0
	r := rand.New(rand.NewPCG(3, 4))
	draws, want := 1_000, 10
	if soak {
		draws, want = 6_000, 50
	}
	for range draws {
		if s := scheduletest.Random(r, all).Schedule; lowered(s) != nil {
			drawn++
		}
	}
	if len(f.operations) < before+want {
		t.Errorf("random schedules have only %d programs of their own", len(f.operations)-before)
	}
	t.Logf("%d random schedules are lowered, to %d programs of their own", drawn, len(f.operations)-before)
	t.Logf("%d texts of %d lists of operations", len(f.operations), len(f.texts))
}

// Programs that are one edit apart print differently where they enqueue different operations:
// every edit of programs that have every form that there is.
func TestPrintTellsEdits(t *testing.T) {
	sampling.Test(t, 0, 3)
	for _, c := range []struct {
		name  string
		s     schedule.Schedule
		least int // lists of operations
	}{
		{"padded", catalog.AllGatherVPadded, 50},
		{"ring", catalog.LinearReduceScatterRing, 50},
		{"members", catalog.AllGatherLinearRingBoth, 50},
		{"fused", catalog.LinearReduceScatterPutKernels, 50},
		{"two shots", catalog.AllReduceTwoShot, 50},
		{"layers", catalog.TensorParallelMLP, 50},
		{"chunks", catalog.AllGatherLinearCollective2, 50},
		{"collectives", catalog.AllGatherLinearNCCL4, 45}, // a short program
		{"functions", catalog.BlockBehindAttention, 300},
		{"gather", catalog.AllGatherLinearOneShot, 30},
		{"row", catalog.RowParallelLinear, 90},
		{"uneven parts", catalog.ReduceScatterV, 25},
		{"handles", catalog.AllGatherLinearHandlesInLoop, 70},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := lower.Lower("X", c.s)
			if err != nil {
				t.Fatal(err)
			}
			var f faithful
			f.see(p)
			for _, edited := range edits(p) {
				if wrong := f.see(edited); wrong != "" {
					t.Fatal(wrong)
				}
			}
			if len(f.texts) < c.least {
				t.Errorf("only %d lists of operations", len(f.texts))
			}
			t.Logf("%d texts of %d lists of operations", len(f.operations), len(f.texts))
		})
	}
}

// ofSteps are edits of a step.
var ofSteps = []func(*hostir.Step){
	does(func(x *hostir.Product) { x.Accumulate = !x.Accumulate }),
	does(func(x *hostir.Product) { x.Func += "gelu" }),
	does(func(x *hostir.Product) { x.Index = hostir.Matmul }),
	does(func(x *hostir.Product) { x.A, x.B = x.B, x.A }),
	does(func(x *hostir.Apply) { x.Makes = append(slices.Clone(x.Makes), schedule.GELU().Tree()) }),
	does(func(x *hostir.Apply) { x.Operands = nil }),
	does(func(x *hostir.Call) { x.Name += "gelu" }),
	does(func(x *hostir.Call) { slices.Reverse(x.Operands) }),
	does(func(x *hostir.Sum) { slices.Reverse(x.Terms) }),
	does(func(x *hostir.Gather) { slices.Reverse(x.From) }),
	does(func(x *hostir.Copy) { x.From, x.To = x.To, x.From }),
	func(s *hostir.Step) { s.By = "other" },
	func(s *hostir.Step) { s.By = "" },
	func(s *hostir.Step) { s.Pre, s.Post = nil, s.Words() },
	func(s *hostir.Step) { s.ByBlocks = !s.ByBlocks },
	func(s *hostir.Step) { s.Do = hostir.Copy{From: hostir.Whole("A"), To: s.Result()} },
	does(func(x *hostir.Collective) { x.From, x.To = x.To, x.From }),
	does(func(x *hostir.Collective) { x.Does = hostir.AllGather }),
	does(func(x *hostir.Collective) { x.Does = hostir.ReduceScatter }),
	does(func(x *hostir.Collective) { x.Does = hostir.AllReduce }),
	does(func(x *hostir.Collective) { x.Does = hostir.AllToAll }),
}

// edits are the programs that differ from one in one place.
func edits(p *hostir.Program) (list []*hostir.Program) {
	body := func(b []hostir.Node) {
		c := *p
		c.Body = b
		list = append(list, &c)
	}
	for i := range p.Buffers {
		c := *p
		c.Buffers = slices.Clone(p.Buffers)
		c.Buffers[i].Chunk = hostir.Mul(c.Buffers[i].Chunk, hostir.Const(2))
		list = append(list, &c)
	}
	for name := range p.Constants {
		c := *p
		c.Constants = hostir.Env{}
		for n, v := range p.Constants {
			c.Constants[n] = v
		}
		c.Constants[name]++
		list = append(list, &c)
	}
	every(p, []func(*hostir.StreamRef){
		func(s *hostir.StreamRef) { s.Set = "other" },
	}, func(at *place[hostir.StreamRef]) hostir.Parts { return hostir.Parts{Stream: at.take} }, body)
	every(p, []func(*hostir.Word){
		func(w *hostir.Word) { w.Wait = !w.Wait },
		func(w *hostir.Word) { w.Peer = hostir.Every },
		func(w *hostir.Word) { w.Index = hostir.Const(1) },
		func(w *hostir.Word) { w.Semaphore += "2" },
	}, func(at *place[hostir.Word]) hostir.Parts { return hostir.Parts{Word: at.take} }, body)
	every(p, []func(*hostir.View){
		func(v *hostir.View) { v.Peer = hostir.Expr{} },
		func(v *hostir.View) { v.Index, v.Count = hostir.Rank, hostir.Const(2) },
		func(v *hostir.View) { v.Count = hostir.Expr{} },
		func(v *hostir.View) { v.Padded = !v.Padded },
		func(v *hostir.View) { v.Index = hostir.Expr{} },
		func(v *hostir.View) { v.Buffer = "C" },
	}, func(at *place[hostir.View]) hostir.Parts {
		return hostir.Parts{View: func(_ string, v hostir.View) hostir.View { return at.take(v) }}
	}, body)
	every(p, []func(*hostir.Expr){
		func(e *hostir.Expr) { *e = hostir.Add(*e, hostir.Const(1)) },
	}, func(at *place[hostir.Expr]) hostir.Parts {
		return hostir.Parts{Expr: func(_ string, e hostir.Expr) hostir.Expr { return at.take(e) }}
	}, body)
	for _, f := range ofSteps {
		steps := 0
		hostir.Steps(p.Body, func(hostir.Step) { steps++ })
		for which := range steps {
			at := place[hostir.Step]{which: which, edit: f}
			body(hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node { return []hostir.Node{at.take(s)} }))
		}
	}
	return list
}

// does edits work of a kind that a step does.
func does[W hostir.Work](edit func(*W)) func(*hostir.Step) {
	return func(s *hostir.Step) { *s = hostir.Changed(*s, edit) }
}

// place is one part of a program, counted among the parts of its kind, and an edit of it.
type place[T any] struct {
	which, seen int
	edit        func(*T)
}

func (p *place[T]) take(part T) T {
	if p.seen++; p.seen-1 == p.which {
		p.edit(&part)
	}
	return part
}

// every calls body for each part of a kind and each edit.
func every[T any](p *hostir.Program, edits []func(*T), parts func(*place[T]) hostir.Parts, body func([]hostir.Node)) {
	for _, f := range edits {
		for which := 0; ; which++ {
			at := &place[T]{which: which, edit: f}
			b := hostir.Rewrite(p.Body, parts(at))
			if at.seen <= which {
				break
			}
			body(b)
		}
	}
}
