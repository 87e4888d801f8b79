package served

import (
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// formulas are functions that formulas say, where no product and no sum applies them.
var formulas = []declared{
	{"logits within bounds", "Gemma's, of a vocabulary that is spread", of("A[M/D K] W[N/D K] C[M:D N/D]",
		s.Linear("C", "A", "W", s.SoftCap(30))), served},
	{"a function of a user's own", "behind the library's", of("A[M/D K] W[F/D K] V[N F/D] C[M/D N]",
		s.Linear("H", "A", "W", s.GELU(), capped(2)), s.Linear("C", "H", "V")), served},
	{"a sum that is scaled", "Granite's residual", of("A[M K/D] W[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "W", s.Scale(.22), s.Add("R"))), served},
	{"a sum that is scaled, by one kernel", "its move is named after the result", of(
		"A[M K/D] W[N K/D] R[M/D N] C[M/D N]", s.Linear("C", "A", "W", s.Scale(.22), s.Add("R"))).by("C", s.Shot{}),
		served},
	{"a gate behind a sum", "where its operand was", of("A[D/D M N] U[M N] C[M N]", s.Sum("C", "A", s.Scale(2),
		s.SwiGLU("U"))).changed("C", func(t *s.Tensor) { t.Within = "U" }).by("C", s.PushShot{}), served},
	{"a gate behind a sum", "whose operand is in its place", of("A[M K/D] W[N K/D] U[M/D N] C[M/D N]",
		s.Linear("C", "A", "W", s.Scale(2), s.SwiGLU("U"))).changed("U", inC), served},
	{"a bias behind packets", "by column", of("A[D/D M N] V[N] C[M N]", s.Sum("C", "A", s.Bias("V"))).
		by("C", s.PushShot{}), served},
	{"rows scaled behind packets in two shots", "parts are of rows", of("A[D/D M N] S[M] C[M N]",
		s.Sum("C", "A", s.Func{Is: s.Times(s.X, s.Column("S"))})).by("C", s.PushTwoShot{}), served},
	{"a residual in a ring", "behind the last sum, which is rounded", of("A[M K/D] W[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "W", s.Add("R"), s.SoftCap(30))).by("C", s.RingSum{}), served},
	{"a residual in a ring that accumulates", "and a norm", of("A[M K/D] W[N K/D] R[M/D N] V[N] C[M/D N]",
		s.Linear("C", "A", "W", s.Add("R"), s.RMSNorm("V"))).by("C", s.RingAccumulate{}), served},
	{"a gate in NCCL's parts", "behind all", of("A[M K/D] W[N K/D] U[M/D N] C[M/D N]",
		s.Linear("C", "A", "W", s.SwiGLU("U"))).by("C", s.NCCL{Parts: 2}), served},
	{"two tensors and numbers of rows by tiles", "in the kernel that multiplies", of(
		"A[M K/D] W[N K/D] R[M/D N] T[M/D N] S[M/D] C[M/D N]", s.Linear("C", "A", "W", s.Add("R"), s.Add("T"),
			s.Func{Is: s.Times(s.X, s.Column("S"))})).by("C", s.Tiles{}).types(s.BF16, s.FP16),
		served},
	{"an operand of fp32 behind a sum", "in plans of 16 bits", of("A[D/D M N] R[M N] C[M N]", s.Sum("C", "A",
		s.SiLU(), s.Add("R"))).in32("R"), served},
	{"an operand of fp32 behind packets", "added first", of("A[D/D M N] R[M/D N] C[M/D N]", s.Sum("C", "A",
		s.Add("R"))).in32("R").by("C", s.PushShot{}), served},
	{"a tensor behind a sum of codes", "beside its row", of("Q[D/D M N] R[M/D N] V[N] C[M/D N]", s.Sum("C", "Q",
		s.Add("R"), s.Bias("V"))).eight(true, "Q"), served},
	{"a sum that every rank scales", "of all rows", of("A[M K/D] W[N K/D] C[M N]",
		s.Linear("C", "A", "W", s.Scale(.22))), served},
	{"a sum with a bias, squared", "Nemotron's gate behind partial results", of(
		"A[M K/D] W[N K/D] B[N] V[N2/D N] C[M:D N2/D]", s.Linear("H", "A", "W", s.Bias("B"), s.SquaredReLU()),
		s.Linear("C", "H", "V")), served},
	{"a norm of each head", "Qwen3's queries, then turned", of("A[M/D K] Wq[N/D K] Q[W] T[M W] C[M:D N/D]",
		s.Linear("C", "A", "Wq", s.RMSNorm("Q").PerHead(s.W), s.Rotary("T"))), served},
	{"a residual behind a norm", "Gemma's", of("A[M K/D] Wo[N K/D] R[M/D N] Norm[N] W[F/D N] C[M:D F/D]",
		s.Linear("Y", "A", "Wo"), s.Copy("X", "Y", s.RMSNorm("Norm"), s.Scale(1), s.Add("R")),
		s.Linear("C", "X", "W")), served},
	{"a sum that is scaled by a number of the Shape", "LoRA's alpha", of("A[M K/D] W[N K/D] R[M/D N] C[M/D N]",
		s.Linear("C", "A", "W", s.Func{Is: s.Times(s.X, s.Param("Alpha"))}, s.Add("R"))), served},
	{"a number that the Shape has for a tensor's size", "it is no number of a formula", of("A[M N] C[M N]",
		s.Copy("C", "A", s.Func{Is: s.Times(s.X, s.Param("M"))})),
		at("Ops[0].Then[0].Is.Of[1].Name", `no Shape has a number "M"`)},
	{"rows scaled", "dequantised", of("A[M/D K] W[N/D K] S[M] V[N/D] C[M:D N/D]",
		s.Linear("C", "A", "W", s.Func{Is: s.Times(s.X, s.Column("S"), s.Row("V"))})), served},
	{"a softmax of columns", "a rank has some of each row", of("A[M/D K] W[N/D K] C[M:D N/D]",
		s.Linear("C", "A", "W", s.Softmax())), at("Ops[0].Then[0]", "each rank has a part of each row of C")},
	{"a norm of rows, then of heads", "no kernel has both groups", of("A[M N] Norm[N] Q[W] C[M N]",
		s.Copy("C", "A", s.RMSNorm("Norm"), s.RMSNorm("Q").PerHead(s.W))),
		at("Ops[0].Then[1]", "it is of rows and of heads")},
	{"a norm of rows, and one of heads", "the hint, followed", of("A[M N] Norm[N] Q[W] C[M N]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.Copy("C", "X", s.RMSNorm("Q").PerHead(s.W))), served},
	{"a mean of rows and of heads", "in one tree", of("A[M N] C[M N]",
		s.Copy("C", "A", s.Func{Is: s.Plus(s.Mean(s.X), s.Mean(s.X).InHeads("64"))})),
		at("Ops[0].Then[0]", "no kernel makes a formula: it is of rows and of heads")},
	{"a part of a head, turned behind its norm", "at once", of("A[M/D K] W[N/D K] Q[128] T[M 64] C[M:D N/D]",
		s.Linear("C", "A", "W", s.RMSNorm("Q").PerHead("128"), s.RotaryOf(64, "128", "T"))),
		at("Ops[0].Then[1]", "it is of heads of 128 and of 64 columns")},
	{"a part of a head, turned", "behind the norm, GLM's", of("A[M/D K] W[N/D K] Q[128] T[M 64] C[M:D N/D]",
		s.Linear("H", "A", "W", s.RMSNorm("Q").PerHead("128")), s.Copy("C", "H", s.RotaryOf(64, "128", "T"))), served},
	{"numbers of other rows", "of a sum", of("A[M K/D] W[N K/D] U[M] C[M/D N]",
		s.Linear("C", "A", "W", s.Func{Word: "scaled", Is: s.Times(s.X, s.Column("U"))})),
		at("Tensors[2]", "take it otherwise: C = linear(A, W), scaled(x*U[row])")},
	{"a part of a head that has no whole ones", "columns of the next head would be turned", of(
		"A[M/D K] W[N/D K] T[M 48] C[M:D N/D]", s.Linear("C", "A", "W", s.RotaryOf(48, "128", "T"))),
		at("Ops[0].Then[0].Is.Of[0].Of[0].Of[1].Tensor", "heads of 48 columns do not lie in those of 128")},
	{"an operand of other rows", "each rank has its own", of("A[M/D K] W[N/D K] R[M/D N] C[M:D N/D]",
		s.Linear("C", "A", "W", s.Func{Is: s.Times(s.X, s.Of("R"))})),
		at("Tensors[2]", "R is [DIDx(D), M/D, N], and the operations take it otherwise")},
}

// TestFormulas holds each against its verdict, and the explorer agrees where it is served.
func TestFormulas(t *testing.T) {
	sampling.Test(t, 1, 3)
	for i := range formulas {
		d := &formulas[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
		if d.outcome != isServed {
			continue
		}
		p, err := lower.Lower("Formula", d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if explored, err := explore.Small(p, []int{1, 2, 3}, true); err != nil || len(explored) < 2 {
			t.Errorf("%s: explored of %v ranks: %v", d.id, explored, err)
		}
	}
}

// broken are programs that make something else of their operands than the schedule says.
var broken = map[string]func(*hostir.Apply){
	"another constant": func(x *hostir.Apply) { remake(x, doubled) },
	"an operation less": func(x *hostir.Apply) {
		remake(x, func(e s.Expr) s.Expr {
			if e.Do == s.DoNeg || e.Do == s.DoRecipRoot {
				return e.Of[0]
			}
			return e
		})
	},
	"operands the other way round": func(x *hostir.Apply) {
		remake(x, func(e s.Expr) s.Expr {
			if e.Do == s.DoMinus {
				e.Of = []s.Expr{e.Of[1], e.Of[0]}
			}
			return e
		})
	},
	"another operand": func(x *hostir.Apply) {
		x.Operands = slices.Clone(x.Operands)
		x.Operands[0], x.Operands[1] = x.Operands[1], x.Operands[0]
	},
	"another width of heads": func(x *hostir.Apply) {
		remake(x, func(e s.Expr) s.Expr {
			if e.Group == "4" {
				e.Group = "2"
			}
			return e
		})
	},
	oneHead: func(x *hostir.Apply) {
		remake(x, func(e s.Expr) s.Expr {
			if e.Do == s.DoMean {
				e.Group = ""
			}
			return e
		})
	},
	"rows of half the columns": func(x *hostir.Apply) {
		x.Columns = hostir.Div(x.Columns, hostir.Const(2))
	},
}

// doubled is a constant of twice the size.
func doubled(e s.Expr) s.Expr {
	if e.Do == s.DoNumber {
		e.Number *= 2
	}
	return e
}

// remake puts another tree in place of each of a function.
func remake(x *hostir.Apply, f func(s.Expr) s.Expr) {
	var each func(e s.Expr) s.Expr
	each = func(e s.Expr) s.Expr {
		of := []s.Expr(nil)
		for _, x := range e.Of {
			of = append(of, each(x))
		}
		e.Of = of
		return f(e)
	}
	x.Makes = slices.Clone(x.Makes)
	for i, e := range x.Makes {
		x.Makes[i] = each(e)
	}
}

// oneHead is a mistake that changes nothing at the explorer's shape, where a rank has the columns of one head.
const oneHead = "the row for a head"

// TestBrokenFormulas: both checkers refuse each broken program.
func TestBrokenFormulas(t *testing.T) {
	x := s.Minus(s.Times(s.X, s.RecipRoot(s.Plus(s.Mean(s.Times(s.X, s.X)).InHeads("4"), s.Num(.5))), s.Of("R")),
		s.Of("T"), s.HeadRow("Q"))
	d := of("A[M/D K] W[N/D K] R[M N/D] T[M N/D] Q[4] C[M:D N/D]", s.Linear("C", "A", "W", s.Func{Is: x}))
	for name, mutate := range broken {
		p, err := lower.Lower("Formula", d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		p.Body = hostir.MapSteps(p.Body, func(step hostir.Step) []hostir.Node {
			return []hostir.Node{hostir.Changed(step, func(x *hostir.Apply) {
				if x.Makes != nil {
					mutate(x)
					changed++
				}
			})}
		})
		if changed == 0 {
			t.Fatal("no step makes a formula")
		}
		if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3}}); err == nil {
			t.Errorf("%s is proven", name)
		}
		if explored, err := explore.Small(p, []int{2}, true); err == nil && name != oneHead {
			t.Errorf("%s: nothing is found on %v ranks", name, explored)
		}
	}
}

// brokenFinishes are sums that end otherwise than the schedule says.
var brokenFinishes = map[string]func(x *hostir.Finish){
	"operands the other way round": func(x *hostir.Finish) {
		x.Operands[2], x.Operands[3] = x.Operands[3], x.Operands[2]
	},
	"numbers of rows the other way round": func(x *hostir.Finish) {
		x.Operands[0], x.Operands[1] = x.Operands[1], x.Operands[0]
	},
	"functions the other way round": func(x *hostir.Finish) { slices.Reverse(x.Makes[2:]) },
	"the numbers of all rows for those of a rank's": func(x *hostir.Finish) {
		x.Operands[0] = hostir.Chunk(x.Operands[0].Buffer, hostir.Const(0))
	},
	"rows of half the columns": func(x *hostir.Finish) { x.Columns = hostir.Div(x.Columns, hostir.Const(2)) },
	"a function less":          func(x *hostir.Finish) { x.Makes = x.Makes[:3]; x.Operands = x.Operands[:4] },
}

// TestBrokenFinishes: both checkers refuse each broken sum, by each way.
func TestBrokenFinishes(t *testing.T) {
	by := func(row string) s.Func { return s.Func{Is: s.Times(s.X, s.Column(row))} }
	for _, way := range []s.Way{s.Slots{}, s.TwoShot{}, s.PushTwoShot{}} {
		d := of("A[D/D M N] S[M] Z[M] R[M N] U[M N] V[N] C[M N]", s.Sum("C", "A", by("S"), s.Func{Is: s.Minus(s.X,
			s.Column("Z"))}, s.SwiGLU("R"), s.Func{Is: s.Minus(s.X, s.Of("U"))}, s.Bias("V"))).by("C", way)
		for name, mutate := range brokenFinishes {
			p, err := lower.Lower("Finish", d.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			changed := 0
			p.Body = hostir.MapSteps(p.Body, func(step hostir.Step) []hostir.Node {
				change := func(x *hostir.Finish) {
					x.Makes, x.Operands = slices.Clone(x.Makes), slices.Clone(x.Operands)
					mutate(x)
					changed++
				}
				step = hostir.Changed(step, func(x *hostir.Sum) { change(&x.Finish) })
				return []hostir.Node{hostir.Changed(step, func(x *hostir.PacketSpread) { change(&x.Sum.Finish) })}
			})
			if changed != 1 {
				t.Fatalf("%d steps sum", changed)
			}
			if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3}}); err == nil {
				t.Errorf("%T: %s is proven", way, name)
			}
			if explored, err := explore.Small(p, []int{2, 3}, true); err == nil {
				t.Errorf("%T: %s: nothing is found on %v ranks", way, name, explored)
			}
		}
	}
}

// capped is a function of a user's own.
func capped(most float64) s.Func { return s.Func{Word: "capped", Is: s.Least(s.X, s.Num(most))} }
