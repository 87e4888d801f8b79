package prove_test

import (
	"errors"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

var q, c = hostir.Var("q"), hostir.Var("c")

// countsOf gives a buffer other counts.
func countsOf(buffer string, index hostir.Expr) func(*hostir.Program) {
	return func(p *hostir.Program) {
		for i := range p.Buffers {
			if p.Buffers[i].Name == buffer {
				p.Buffers[i].Counts = index
			}
		}
	}
}

// source lets copies from peers read another chunk.
func source(index hostir.Expr) func(*hostir.Program) {
	return change(func(n *hostir.Copy) {
		if !n.From.Peer.IsZero() {
			n.From.Index = index
		}
	})
}

// paddedResult is a product of padded rows, whose rows all ranks get without padding.
var paddedResult = func() schedule.Schedule {
	s := catalog.AllGatherVLinearQuantised
	s.Moves = []schedule.Move{{Of: "Codes", Way: schedule.Padded{}}}
	return s
}()

// counted are attention between products, and a gradient, of rows by counts.
func counted(tensors string, ops ...schedule.Op) schedule.Schedule {
	return schedule.Schedule{Tensors: scheduletest.Tensors(tensors), Ops: ops}
}

var (
	attended = counted("A[M/D~ K] B[F/D K] B2[N F/D] C[M/D~ N]", schedule.Linear("H", "A", "B"),
		schedule.Call("O", "Attention", "mn->mn", "H"), schedule.Linear("C", "O", "B2"))
	ofAllRows = counted("A[M/D~ K] B[F/D K] H[M F/D] T[M N] Dw[N F/D]", schedule.Linear("H", "A", "B"),
		schedule.Gradient("Dw", "T", "H"))
)

// unevenCases are mistakes in whose count is whose.
var unevenCases = []struct {
	name     string
	schedule schedule.Schedule
	edit     func(*hostir.Program)
	want     prove.Property
}{
	{"gather: parts in another order", catalog.AllGatherV,
		countsOf("C", hostir.Mod(hostir.Add(c, one), d)), prove.Bounds},
	{"gather: parts in another order, as the program has it", catalog.AllGatherV,
		func(p *hostir.Program) {
			last := hostir.Sub(d, one)
			countsOf("C", hostir.Sub(last, c))(p)
			change(func(n *hostir.Copy) { n.To.Index = hostir.Sub(last, n.To.Index) })(p)
		}, prove.Contents},
	{"gather: another rank's count", catalog.AllGatherV,
		countsOf("A", hostir.Mod(hostir.Add(q, one), d)), prove.Race},
	{"gather: a count that the shape chooses", catalog.AllGatherV, countsOf("A", m), prove.Shapes},
	{"padded: another rank's part", catalog.AllGatherVPadded, source(zero), prove.Race},
	{"padded: another rank's count", catalog.AllGatherVPadded,
		countsOf("Apadded", hostir.Mod(hostir.Add(c, one), d)), prove.Contents},
	{"padded: a part put where another belongs", catalog.AllGatherVPadded,
		change(func(n *hostir.Copy) {
			if n.From.Peer.IsZero() && !n.From.Index.IsZero() {
				n.From.Index = hostir.Rank
			}
		}), prove.Contents},
	{"padded products: another rank's part", catalog.DataParallelLayer, source(zero), prove.Race},
	{"padded products: another rank's sums", catalog.DataParallelLayer,
		change(func(n *hostir.Sum) { n.Terms[0].Index = zero }), prove.Contents},
	{"padded products: rows as if there were no padding", catalog.DataParallelLayer,
		change(func(n *hostir.Product) { n.A.Padded, n.To.Padded = false, false }), prove.Contents},
	{"padded products: padding among the rows", paddedResult,
		countsOf("Cpadded", hostir.Mod(hostir.Add(c, one), d)), prove.Contents},
	{"padded products: a result put where another belongs", paddedResult,
		change(func(n *hostir.Copy) {
			if n.From.Buffer == "Cpadded" {
				n.From.Index = hostir.Rank
			}
		}), prove.Contents},
	{"padded products: a neighbour's scales", paddedResult,
		change(func(n *hostir.Copy) {
			if n.From.Buffer == "Scales" && n.From.Peer.IsZero() {
				n.To.Index = hostir.Mod(hostir.Add(hostir.Rank, one), d)
			}
		}), prove.Contents},
	{"a call for own rows: another rank's count", catalog.DataParallelLayer,
		countsOf("O", hostir.Mod(hostir.Add(q, one), d)), prove.Contents},
	{"a call for all rows: another place of each part", attended,
		countsOf("O", hostir.Mod(hostir.Add(c, one), d)), prove.Contents},
	{"a gradient of all rows: other rows of one operand", ofAllRows,
		countsOf("T", hostir.Mod(hostir.Add(c, one), d)), prove.Contents},
	{"scatter: parts in another order", catalog.ReduceScatterV,
		countsOf("A", hostir.Sub(d, hostir.Add(c, one))), prove.Contents},
	{"scatter: another rank's part", catalog.ReduceScatterV,
		change(func(n *hostir.Sum) { n.Terms[0].Index = zero }), prove.Contents},
	{"exchange: counts of the other direction", catalog.AllToAllV,
		countsOf("C", hostir.Add(hostir.Mul(q, d), c)), prove.Contents},
	{"exchange: another rank's part", catalog.AllToAllV, source(zero), prove.Contents},
	{"balanced: parts in another order", catalog.AllGatherLinearBalanced,
		countsOf("C", hostir.Mod(hostir.Add(c, one), d)), prove.Contents},
	{"balanced: another rank's count", catalog.AllGatherLinearBalanced,
		countsOf("A", hostir.Mod(hostir.Add(q, one), d)), prove.Bounds},
	{"balanced: another rank's rows", catalog.AllGatherLinearBalanced,
		change(func(n *hostir.Product) {
			if !n.A.Index.IsZero() {
				n.A.Index = hostir.Rank
			}
		}), prove.Contents},
	{"balanced: a sum of one part again and again", catalog.LinearReduceScatterBalanced,
		change(func(n *hostir.Sum) { n.Terms[0].Index = zero }), prove.Contents},
	{"balanced: a part put where another belongs", catalog.LinearReduceScatterBalanced,
		change(func(n *hostir.Copy) { n.To.Index = zero }), prove.Race},
}

// Uneven parts are proven for counts that differ, so mistakes in whose count is whose
// show, and parts of nothing are no obstacle.
func TestUneven(t *testing.T) {
	for _, test := range unevenCases {
		t.Run(test.name, func(t *testing.T) {
			p := program(t, "X", test.schedule)
			test.edit(p)
			if wrong := refuted(t, p, 3); wrong.Property != test.want {
				t.Errorf("property %q, want %q", wrong.Property, test.want)
			}
		})
	}
}

// Of five counts of at most two rows, the second and the fourth are equal but in the samples that tell ranks apart.
func TestCountsWithoutRoom(t *testing.T) {
	s := scheduletest.Clone(catalog.AllGatherV)
	s.Tensors[0].Axes[0].Outer[0].Most = "2"
	p := program(t, "X", s)
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3, 5, 8}}); err != nil {
		t.Fatal(err)
	}
	odd, two := hostir.Mod(c, hostir.Const(2)), hostir.Const(2)
	countsOf("C", hostir.Add(c, hostir.Mul(odd, hostir.Sub(hostir.Const(4), hostir.Mul(two, c)))))(p) // 1 is 3, 3 is 1
	if wrong := refuted(t, p, 5); wrong.Property != prove.Race {
		t.Errorf("property %q, want %q", wrong.Property, prove.Race)
	}
}

// A copy that ends after the last counted chunk, in memory that there is, is a
// counterexample and nothing worse.
func TestUsesBehindTheLastPart(t *testing.T) {
	p, err := lower.Lower("X", catalog.AllToAllV)
	if err != nil {
		t.Fatal(err)
	}
	m, lists, err := prove.Unroll(p, 2)
	if err != nil {
		t.Fatal(err)
	}
	longer := 0
	for i, o := range lists[0] {
		if o.Kind == ops.Copy && longer == 0 {
			lists[0][i].Uses = slices.Clone(o.Uses)
			for j := range o.Uses {
				lists[0][i].Uses[j].Bytes *= 3
			}
			longer++
		}
	}
	var wrong *prove.Counterexample
	if _, err := prove.Lists(t.Context(), m, lists, 2); longer != 1 || !errors.As(err, &wrong) {
		t.Errorf("%d copies made longer: got %v, want a counterexample", longer, err)
	}
}

// A sum whose terms are parts of nothing, as an index of another part makes it, leaves a
// result of nothing: a counterexample, too, and no error of the list.
func TestSumsOfNothing(t *testing.T) {
	m, lists, err := prove.Unroll(program(t, "ReduceScatterV", catalog.ReduceScatterV), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []struct {
		name string
		used func(ops.Use) bool
	}{{"result", func(u ops.Use) bool { return u.Write }}, {"term", func(u ops.Use) bool { return !u.Write }}} {
		lists := slices.Clone(lists)
		lists[1] = slices.Clone(lists[1])
		i := slices.IndexFunc(lists[1], func(o ops.Op) bool { return o.Kind == ops.Sum })
		o := &lists[1][i]
		j := slices.IndexFunc(o.Uses, keep.used)
		o.Uses = o.Uses[j : j+1]
		var wrong *prove.Counterexample
		var form *ops.FormError
		_, err := prove.Lists(t.Context(), m, lists, 2)
		if !errors.As(err, &form) && (!errors.As(err, &wrong) || wrong.Property != prove.Contents) {
			t.Errorf("a sum of a %s alone: %v", keep.name, err)
		}
	}
}
