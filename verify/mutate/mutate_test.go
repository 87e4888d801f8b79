package mutate_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/mutate"
	"ovgen/verify/sampling"
)

// mutants are all of a schedule.
func mutants(t *testing.T, name string, s schedule.Schedule) []mutate.Mutant {
	t.Helper()
	p, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	list, err := mutate.All(p)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// gateUpByTiles has a product behind tiles, which takes own rows that the kernel does not bring.
var gateUpByTiles = schedule.Schedule{Tensors: catalog.AllGatherGateUp.Tensors, Ops: catalog.AllGatherGateUp.Ops,
	Moves: catalog.AllGatherLinearTiles.Moves, Types: catalog.AllGatherLinearTiles.Types}

// ownProduct has a product of the caller's own, whose summands meet, and ownRows a call on each rank's own rows.
var (
	ownProduct = schedule.Schedule{Tensors: scheduletest.Tensors("A[M K/D] B[N K/D] C[M/D N]"),
		Ops: []schedule.Op{schedule.CallPartial("C", "MyGEMM", "mk,nk->mn", "A", "B")}}
	ownRows = schedule.Schedule{Tensors: scheduletest.Tensors("Q[M/D N] Key[M/D N] C[M/D N]"),
		Ops: []schedule.Op{schedule.Copy("All", "Key"), schedule.CallRows("C", "Attention", "mq,nq->mq", "Q", "All")}}
	// eightCalled has a call that makes eight bits of each rank's part of rows.
	eightCalled = func() schedule.Schedule {
		s := schedule.Schedule{Tensors: scheduletest.Tensors("X[M F/D] Q[M F/D] SQ[M D/D] B[N F/D] SB[N] C[M N]"),
			Ops: []schedule.Op{schedule.Call("Q", "Gate", "mf->mf", "X"), schedule.Linear("C", "Q", "B")}}
		for i := range 2 {
			q := &s.Tensors[1+2*i]
			scale := &s.Tensors[2+2*i]
			q.Type, q.Scale, scale.Type = schedule.E4M3, scale.Name, schedule.FP32
		}
		return s
	}()
)

// squareSums are sums for each rank's rows of products with scales of blocks, of which one product makes all.
var squareSums = func() schedule.Schedule {
	s := schedule.Schedule{Tensors: scheduletest.Tensors("A[M K/D] B[N K/D] C[M/D N]"),
		Ops:   []schedule.Op{schedule.Linear("C", "A", "B")},
		Moves: []schedule.Move{{Of: "C", Way: schedule.Shot{}}}}
	blocks := schedule.Axis{Extent: schedule.Blocks(schedule.K, 128), Outer: s.Tensors[0].Axes[1].Outer}
	for i, axes := range [][]schedule.Axis{{blocks, schedule.Dim(schedule.M)},
		{schedule.Dim(schedule.Blocks(schedule.N, 128)), blocks}} {
		of := &s.Tensors[i]
		of.Type, of.Scale = schedule.E4M3, "S"+of.Name
		s.Tensors = append(s.Tensors, schedule.Tensor{Name: of.Scale, Axes: axes, Type: schedule.FP32})
	}
	return s
}()

// finishedSums is a sum of which every rank gets all, with a number of each row and tensors behind it.
func finishedSums(way schedule.Way) schedule.Schedule {
	return schedule.Schedule{Tensors: scheduletest.Tensors("A[D/D M N] R[M N] T[M N] U[M N] S[M] Z[M] C[M N]"),
		Ops: []schedule.Op{schedule.Sum("C", "A", schedule.Add("R"), schedule.Func{
			Is: schedule.Plus(schedule.Times(schedule.X, schedule.Column("S")), schedule.Column("Z"))},
			schedule.SwiGLU("T"), schedule.Add("U"))},
		Moves: []schedule.Move{{Of: "C", Way: way}}}
}

// some are at most so many mutants of each kind, from the first to the last of them.
func some(list []mutate.Mutant, most int) (shown []mutate.Mutant) {
	all, seen := map[string]int{}, map[string]int{}
	for _, m := range list {
		all[m.Kind]++
	}
	for _, m := range list {
		i, n := seen[m.Kind], all[m.Kind]
		if seen[m.Kind]++; n <= most || (i+1)*most/n > i*most/n {
			shown = append(shown, m)
		}
	}
	return shown
}

// mutated are schedules whose mutants TestSchedule judges, with kinds that each has.
var mutated = []struct {
	name  string
	s     schedule.Schedule
	kinds []string
}{
	{"AllGatherLinear", catalog.AllGatherLinear, []string{"drop", "double", "move", "swap", "swap the order",
		"drop a fork", "drop a join", "drop an item",
		"turn round", "shift an index", "share a word", "share a workspace", "other stream",
		"drop the acknowledgement", "reuse a buffer early", "shorten a loop", "drop the bias"}},
	{"LinearReduceScatter", catalog.LinearReduceScatter, []string{"drop a term", "double a term",
		"accumulate or not"}},
	{"OwnProduct", ownProduct, []string{"drop", "drop a term", "drop an operand", "an operand of another rank",
		"swap operands", "shift an index"}},
	{"OwnRows", ownRows, []string{"drop", "drop an operand", "an operand of another rank", "swap operands"}},
	{"AllReduceOneShot", catalog.AllReduceOneShot, []string{"drop", "move", "drop a term", "double a term"}},
	{"FinishedSums", finishedSums(schedule.PushShot{}), []string{"drop a function", "swap operands",
		"shift an index"}},
	{"FinishedTwoShots", finishedSums(schedule.TwoShot{}), []string{"drop a function", "swap operands",
		"shift an index", "drop a term"}},
	{"FinishedSlots", finishedSums(schedule.Slots{}), []string{"drop a function", "swap operands",
		"shift an index", "drop a term"}},
	{"FinishedSpread", finishedSums(schedule.PushTwoShot{}), []string{"drop a function", "swap operands",
		"shift an index"}},
	{"AllToAllColumns", catalog.AllToAllColumns, []string{"rows for columns", "shift an index"}},
	{"ColumnWeightGradient", catalog.ColumnWeightGradient, []string{"accumulate or not", "shift an index"}},
	{"AllGatherLinearFused", catalog.AllGatherLinearFused, []string{"share a count word", "count blocks"}},
	{"AllGatherLinearTiles", catalog.AllGatherLinearTiles, []string{"another kernel in a launch",
		"another part of a launch", "the result first"}},
	{"LinearReduceScatterTiles", catalog.LinearReduceScatterTiles, []string{"swap", "other blocks in a launch"}},
	{"GateUpByTiles", gateUpByTiles, []string{"drop", "move", "swap the order", "another part of a launch"}},
	{"AllGatherLinearPackets", catalog.AllGatherLinearPackets, []string{"without packets",
		"another rank's packets", "packets twice", "other blocks in a launch"}},
	{"AllReducePackets", catalog.AllReducePackets, []string{"without packets", "another rank's packets",
		"packets twice"}},
	{"AllReduceNormTwoShot", catalog.AllReduceNormTwoShot, []string{"drop", "drop a spread", "drop a function",
		"shift an index", "without packets", "another rank's packets", "packets twice"}},
	{"GatedMLPFewRows", catalog.GatedMLPFewRows, []string{"drop the functions behind", "swap operands"}},
	{"LinearReduceScatterNCCL", catalog.LinearReduceScatterNCCL, []string{"another collective", "drop", "swap",
		"move", "other stream"}},
	{"AllGatherLinearFP8", catalog.AllGatherLinearFP8, []string{"drop", "move", "shift an index", "share a word",
		"drop the scales", "swap the scales", "reuse a buffer early"}},
	{"AllGatherLinearQuantised", catalog.AllGatherLinearQuantised, []string{"drop", "move", "shift an index",
		"share a word", "drop the scales", "swap the scales", "reuse a buffer early"}},
	{"AllGatherLinearBlocksFP8", catalog.AllGatherLinearBlocksFP8, []string{"drop the scales", "swap the scales",
		"drop the blocks"}},
	{"SquareSums", squareSums, []string{"drop", "shift an index", "swap operands", "cut scales as their rows"}},
	{"AllGatherQuantised", catalog.AllGatherQuantised, []string{"drop", "move", "shift an index", "share a word",
		"drop the scales", "drop a function"}},
	{"AllGatherVQuantised", catalog.AllGatherVQuantised, []string{"drop", "move", "shift an index", "share a word",
		"drop the scales", "drop a function"}},
	{"AllGatherFP4", catalog.AllGatherFP4, []string{"drop", "move", "shift an index", "share a word",
		"drop the scales", "drop a function"}},
	{"AllGatherVFP4", catalog.AllGatherVFP4, []string{"drop", "move", "shift an index", "share a word",
		"drop the scales", "drop a function"}},
	{"AllGatherMXFP4", catalog.AllGatherMXFP4, []string{"drop", "drop the scales", "drop a function"}},
	{"AllGatherBlocksFP8", catalog.AllGatherBlocksFP8, []string{"drop", "drop the scales", "drop a function"}},
	{"ReduceScatterQuantised", catalog.ReduceScatterQuantised, []string{"drop", "move", "shift an index",
		"share a word", "drop a term", "double a term", "drop the scales", "swap the scales", "drop a function"}},
	{"ReduceScatterVQuantised", catalog.ReduceScatterVQuantised, []string{"drop", "move", "shift an index",
		"drop a term", "drop the scales"}},
	{"LinearReduceScatterQuantised", catalog.LinearReduceScatterQuantised, []string{"drop", "shift an index",
		"drop the scales", "drop a function"}},
	{"AllToAllFP8", catalog.AllToAllFP8, []string{"drop", "move", "shift an index", "share a word"}},
	{"LinearReduceScatterFP8", catalog.LinearReduceScatterFP8, []string{"shift an index", "drop the scales"}},
	{"EightCalled", eightCalled, []string{"drop", "drop the scales", "swap the scales"}},
	{"LinearAllReduceSquaresFP8", catalog.LinearAllReduceSquaresFP8, []string{"drop", "swap operands"}},
	{"AllReduceNormQuantised", catalog.AllReduceNormQuantised, []string{"drop", "drop the scales",
		"drop a function", "without packets"}},
	{"LinearAllReduceQuantised", catalog.LinearAllReduceQuantised, []string{"drop", "drop the scales",
		"swap the scales", "without packets"}},
}

// No mutant of a schedule survives, and each is judged for a reason: three of each kind or, where OVGEN_SOAK is set,
// all. The command judges the whole catalog.
func TestSchedule(t *testing.T) {
	for i, c := range mutated {
		if sampling.Takes(i, 3) {
			survive(t, c.name, c.s, c.kinds)
		}
	}
}

// survive judges mutants of a schedule, which has some of each kind.
func survive(t *testing.T, name string, s schedule.Schedule, kinds []string) {
	t.Helper()
	list, names, found := mutants(t, name, s), map[string]bool{}, map[string]int{}
	for _, m := range list {
		found[m.Kind]++
		if names[m.Name()] {
			t.Errorf("two mutants are %s", m.Name())
		}
		names[m.Name()] = true
	}
	if !sampling.All() {
		list = some(list, 3)
	}
	judged, err := mutate.Each(list, runtime.GOMAXPROCS(0),
		func(m mutate.Mutant) (mutate.Judged, error) { return mutate.Judge(m, mutate.Prove) })
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range judged {
		if len(j.Why) == 0 {
			t.Errorf("%s for no reason: %s", j.Class, j.Name())
		}
		if j.Class == mutate.Survivor {
			t.Errorf("survivor: %s\n%s", j.Name(), strings.Join(j.Why, "\n"))
		}
	}
	for _, kind := range kinds {
		if found[kind] == 0 {
			t.Errorf("%s has no mutant of kind %q", name, kind)
		}
	}
}

// A product in place is refused by prover and explorer for what it is, also where all
// sizes fit.
func TestInPlace(t *testing.T) {
	square := schedule.Schedule{Ops: []schedule.Op{schedule.Matmul("C", "A", "B")}, Tensors: []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim("6")}},
		{Name: "B", Axes: []schedule.Axis{schedule.Dim("6"), schedule.Dim("6")}},
		{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim("6")}},
	}}
	all := mutants(t, "Square", square)
	found := 0
	for _, m := range all {
		if m.Kind != "in place" {
			continue
		}
		for _, c := range m.Cases {
			proved, err := mutate.Prove(c)
			if err != nil || proved.Safe || !strings.Contains(proved.Text, "both uses and writes bytes of C") {
				t.Errorf("%s: prover: %s, %v", m.Name(), proved, err)
			}
			explored, err := mutate.Explore(c)
			if err != nil || explored.Safe || !strings.Contains(explored.Text,
				"an operation writes memory that other parts of it still read") {
				t.Errorf("%s: explorer: %s, %v", m.Name(), explored, err)
			}
			found++
		}
	}
	if found == 0 {
		t.Error("there is no such mutant")
	}
}

// No shape hides that the operands of a product were swapped.
func TestSwappedOperands(t *testing.T) {
	few := []string{"AllGatherGateUp", "ColumnParallelQKV", "LinearReduceScatter", "ColumnWeightGradient",
		"TensorParallelMLP"}
	for _, n := range catalog.All() {
		if !slices.ContainsFunc(n.Schedule.Ops, func(o schedule.Op) bool { return len(o.In) == 2 }) {
			continue // nothing is multiplied
		}
		t.Run(n.Name, func(t *testing.T) {
			if !sampling.All() && !slices.Contains(few, n.Name) {
				t.Skip("it is like others, and OVGEN_SOAK is not set")
			}
			all := mutants(t, n.Name, n.Schedule)
			found := 0
			for _, m := range all {
				if m.Kind != "swap operands" {
					continue
				}
				found++
				j, err := mutate.Judge(m, mutate.Prove)
				if err != nil || j.Class != mutate.Caught {
					t.Errorf("%s: %s %v, %v", m.Name(), j.Class, j.Why, err)
				}
			}
			if found == 0 {
				t.Error("there is no such mutant")
			}
		})
	}
}

// A chain that leaves its result where its residual was, which the peers read.
func TestResidualInPlace(t *testing.T) {
	s := schedule.Schedule{Tensors: scheduletest.Tensors("A[M/D K] B[F/D K] B2[K F/D] C[M/D K]"),
		Ops: []schedule.Op{schedule.Linear("H", "A", "B"), schedule.Linear("C", "H", "B2", schedule.Add("A"))}}
	s.Tensors[3].Within = "A"
	caught, most := map[string]int{"drop": 0, "drop a term": 0}, 3
	for _, m := range mutants(t, "InPlace", s) {
		if n, looked := caught[m.Kind]; !looked || n == most && !sampling.All() {
			continue
		}
		j, err := mutate.Judge(m, mutate.Prove)
		switch {
		case err != nil || j.Class == mutate.Survivor:
			t.Errorf("%s: %s %v, %v", m.Name(), j.Class, j.Why, err)
		case j.Class == mutate.Caught:
			caught[m.Kind]++
		}
	}
	for kind, n := range caught {
		if n == 0 {
			t.Errorf("no mutant is caught: %s", kind)
		}
	}
}

// Heads of another width, or another function, on one rank are noticed.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		kind, tensors string
		schedule.Func
	}{
		{"halve the width of heads", "A[M/D K] T[M/D 4] W[N/D K] C[M:D N/D]", schedule.Rotary("T")},
		{"make another function", "A[M/D K] T[K] W[N/D K] C[M:D N/D]", schedule.RMSNorm("T").WithEpsilon(1e-6)},
	} {
		found := 0
		for _, m := range mutants(t, "Turned", schedule.Schedule{Tensors: scheduletest.Tensors(c.tensors),
			Ops: []schedule.Op{schedule.Copy("X", "A", c.Func), schedule.Linear("C", "X", "W")}}) {
			if m.Kind != c.kind {
				continue
			}
			found++
			if j, err := mutate.Judge(m, mutate.Prove); err != nil || j.Class != mutate.Caught {
				t.Errorf("%s: %s %v, %v", m.Name(), j.Class, j.Why, err)
			}
		}
		if found == 0 {
			t.Errorf("there is no mutant: %s", c.kind)
		}
	}
}

// Mistakes that overlap libraries have shipped with, and changes that are merely slower.
func TestNamed(t *testing.T) {
	all := mutants(t, "AllGatherLinear", catalog.AllGatherLinear)
	for _, x := range []struct {
		name, kind, text string
		want             mutate.Class
	}{
		{"no acknowledgement before reuse", "drop the acknowledgement", "read", mutate.Caught},
		{"a wait resolved by a moved index", "shift an index", "copy: Wait ready[peer] peer", mutate.Caught},
		{"a workspace of two streams", "share a workspace", "workspace[main]", mutate.Caught},
		{"one semaphore for two purposes", "share a word", "ready is read too", mutate.Caught},
		{"copies start after the first product", "move", "main: Linear(C[r], A, B, Bias) from place 3 to 1",
			mutate.Warned},
		{"a fork that an event makes needless", "drop a fork", "copy, work[1..D-1]: Synchronize(main) of work",
			mutate.Safe},
	} {
		t.Run(x.name, func(t *testing.T) {
			found := false
			for _, m := range all {
				if m.Kind != x.kind || !strings.HasPrefix(m.Text, x.text) {
					continue
				}
				found = true
				j, err := mutate.Judge(m, mutate.Prove)
				if err != nil {
					t.Fatal(err)
				}
				if j.Class != x.want {
					t.Errorf("%s is %s, want %s: %s", m.Name(), j.Class, x.want, j.Why)
				}
				t.Log(j.Why[0])
			}
			if !found {
				t.Errorf("no such mutant")
			}
		})
	}
}

// A checker that accepts everything, or nothing, lets mutants survive.
func TestJudgeDisagrees(t *testing.T) {
	all := mutants(t, "AllGatherMatmul", catalog.AllGatherMatmul)
	for _, safe := range []bool{true, false} {
		survivors := 0
		for _, m := range all[:40] {
			j, err := mutate.Judge(m, func(mutate.Case) (mutate.Opinion, error) {
				return mutate.Opinion{Safe: safe, Text: "all is broken"}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if j.Class == mutate.Survivor {
				survivors++
			}
		}
		if survivors == 0 {
			t.Errorf("a checker that says safe %v of everything is believed", safe)
		}
	}
}
