package served

import (
	"slices"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// placedResult is a result: R lies as it does, and V as its columns.
type placedResult struct {
	id, tensors, r, v string
	op                s.Op
	// rows says why no kernel makes functions of whole rows; empty: one does.
	rows string
}

// lasts are results that come otherwise than a rank's rows after another's.
var lasts = []placedResult{
	{"an exchange of rows", "A[D/D D M] C[D D/D M]", "D D/D M", "M", s.Copy("C", "A"), ""},
	{"an exchange of rows for columns", "A[M/D N] C[M N/D]", "M N/D", "N/D", s.Copy("C", "A"),
		"each rank has a part of each row of C, and rmsnorm takes whole rows (end the schedule with C, placed [M, N]"},
	{"an exchange of columns for rows", "A[M N/D] C[M/D N]", "M/D N", "N", s.Copy("C", "A"), ""},
	{"a gather of columns", "A[M N/D] C[M N]", "M N", "N", s.Copy("C", "A"), ""},
	{"a broadcast", "A[M N] C[M N]", "M N", "N", s.Copy("C", "A"), ""},
	{"a permutation", "A[M/D N] C[M/D N]", "M/D N", "N", s.Copy("C", "A"), ""},
	{"a gradient of own rows", "A[M N/D] W[M K] C[N/D K]", "N/D K", "K", s.Gradient("C", "A", "W"), ""},
	{"a gradient of rows that come", "A[M N/D] W[M/D K] C[N/D K]", "N/D K", "K", s.Gradient("C", "A", "W"), ""},
	{"a gradient's sum", "A[M/D N] W[M/D K] C[N K]", "N K", "K", s.Gradient("C", "A", "W"), ""},
	{"a gradient's sum of own rows", "A[M/D N] W[M/D K] C[N/D K]", "N/D K", "K", s.Gradient("C", "A", "W"), ""},
	{"batches that come", "A[4 M/D K] W[N K] C[4 M:D N]", "4 M:D N", "N", s.BatchedLinear("C", "A", "W"), ""},
	{"batches that are summed", "A[4 M K/D] W[N K/D] C[4 M/D N]", "4 M/D N", "N", s.BatchedLinear("C", "A", "W"), ""},
	{"columns that are summed", "A[M K/D] W[N K/D] C[M N/D]", "M N/D", "N/D", s.Linear("C", "A", "W"),
		"each rank has a part of each row of C, and rmsnorm takes whole rows (end the schedule with C, placed [M, N]"},
	{"a sum of uneven parts", "A[D/D M N] C[M/D~ N]", "M/D~ N", "N", s.Sum("C", "A"), ""},
	{"products of balanced parts", "A[M/D K] W[N K] C[M N]", "M N", "N", s.Linear("C", "A", "W"), ""},
}

// lastFunctions stand behind each.
var lastFunctions = map[string][]s.Func{
	"a scale":              {s.Scale(.5)},
	"a residual":           {s.Add("R"), s.SoftCap(30)},
	"a norm":               {s.RMSNorm("V"), s.Add("R")},
	"a gate of what stays": {s.SwiGLU("R")},
	"heads":                {s.RMSNorm("Q").PerHead("64")},
}

// declare is the schedule with functions behind the result, and their operands.
func (p placedResult) declare(then []s.Func) form {
	text := p.tensors
	for _, x := range [][2]string{{"R", p.r}, {"V", p.v}, {"Q", "64"}} {
		if slices.ContainsFunc(then, func(f s.Func) bool { return slices.Contains(f.Reads(), x[0]) }) {
			text += " " + x[0] + "[" + x[1] + "]"
		}
	}
	o := p.op
	o.Then = then
	f := of(text, o)
	for i := range f.Tensors {
		t := &f.Tensors[i]
		switch {
		case p.id == "a broadcast":
			t.Root = t.Name == "A"
		case p.id == "a permutation" && (t.Name == "C" || t.Name == "R"):
			t.Axes[0].Outer[0].Shift = 1
		}
	}
	if strings.Contains(p.id, "balanced") {
		f = balanced(f, "A")
	}
	return f
}

// TestBehind: a kernel of its own makes functions of a result that comes in any way, and both checkers agree.
func TestBehind(t *testing.T) {
	sampling.Test(t, 1, 3)
	for _, p := range lasts {
		for name, then := range lastFunctions {
			d := declared{id: p.id + ", " + name, form: p.declare(then), verdict: served}
			if name == "a norm" && p.rows != "" {
				d.verdict = at("Ops[0].Then[0]", p.rows)
			}
			if _, err := d.holds(t); err != nil {
				t.Errorf("%s: %v", d.id, err)
				continue
			}
			if d.outcome != isServed {
				continue
			}
			x, err := lower.Lower("Behind", d.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			if explored, err := explore.Small(x, []int{1, 2, 3}, true); err != nil || len(explored) < 2 {
				t.Errorf("%s: explored of %v ranks: %v", d.id, explored, err)
			}
		}
	}
}

// TestTooEarly: functions that are made before all columns have come are refused by both checkers.
func TestTooEarly(t *testing.T) {
	for _, p := range lasts[2:4] {
		x, err := lower.Lower("Early", p.declare(lastFunctions["a norm"]).Schedule)
		if err != nil {
			t.Fatal(err)
		}
		n := len(x.Body) - 1
		x.Body = append([]hostir.Node{x.Body[n]}, x.Body[:n]...)
		if _, err := prove.Schedule(t.Context(), x, prove.Options{Ranks: []int{2}}); err == nil {
			t.Errorf("%s is proven", p.id)
		}
		if _, err := explore.Small(x, []int{2}, true); err == nil {
			t.Errorf("%s is explored without a mistake", p.id)
		}
	}
}

// TestAccumulated: what is exchanged is added to what lies where it goes, and comes elsewhere before that.
func TestAccumulated(t *testing.T) {
	f := of("A[D/D D M] C[D D/D M] C0[D D/D M]", s.Copy("C", "A", s.Add("C0")))
	f.Tensors[2].Within = "C"
	d := declared{form: f, verdict: served}
	if _, err := d.holds(t); err != nil {
		t.Fatal(err)
	}
	x, err := lower.Lower("Accumulated", d.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := explore.Small(x, []int{1, 2}, true); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(x.Buffers, func(b hostir.Buffer) bool {
		return b.Name == "Cmoved" && b.Owner == hostir.Plan
	}) {
		t.Errorf("no memory for what comes: %v", x.Buffers)
	}
}

// amiss are functions of such results that are refused, at their operands.
var amiss = []declared{
	{"a residual of other ranks' rows", "behind an exchange", of("A[D/D D M] C[D D/D M] R[D/D D M]",
		s.Copy("C", "A", s.Add("R"))), at("Tensors[2]", "R is [DIDx(D), D, M], and the operations take it "+
		"otherwise: C = copy(A), add(R), beside C = copy(A) (place it [D, DIDx(D), M])")},
	{"a residual of all rows", "behind a permutation", shiftedBy(of("A[M/D N] C[M/D N] R[M/D N]",
		s.Copy("C", "A", s.Add("R"))), "C"), at("Tensors[2]", "(place it [DIDx(D, shift 1), M/D, N])")},
	{"angles of each batch", "of an exchange", of("A[D/D D M] C[D D/D M] T[D 64]", s.Copy("C", "A", s.Rotary("T"))),
		at("Ops[0].Then[0].Is.Of[0].Of[1].Tensor", "")},
}

// shiftedBy moves parts of a tensor on by a rank.
func shiftedBy(f form, name string) form {
	for i, t := range f.Tensors {
		if t.Name == name {
			f.Tensors[i].Axes[0].Outer[0].Shift = 1
		}
	}
	return f
}

// TestAmiss holds each against its verdict.
func TestAmiss(t *testing.T) {
	for i := range amiss {
		if _, err := amiss[i].holds(t); err != nil {
			t.Errorf("%s: %v", amiss[i].id, err)
		}
	}
}
