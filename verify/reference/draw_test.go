package reference

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// raised is x to a power that is even.
func raised(power int) schedule.Func {
	all := make([]schedule.Expr, power-2)
	for i := range all {
		all[i] = schedule.X
	}
	return schedule.Func{Word: "raised", Is: schedule.Times(schedule.X, schedule.X, all...)}
}

// scaledBy is x times a power of two.
func scaledBy(exponent int) schedule.Func { return schedule.Scale(math.Ldexp(1, exponent)) }

// choices are chains and, for each tensor, the density and the exponent of the grid that it is drawn with, or has.
var choices = []struct {
	of   string
	p    *Problem
	typ  driver.Type
	want string
}{
	{"a copy", chain("A[mK] C[mK]", schedule.Copy("C", "A", schedule.Scale(2))), driver.BF16,
		"A 1@0 C 1.07@1 exact"},
	{"a gate of a product", chain("A[mK] W[fK] V[Nf] H[Mf] C[mN]", schedule.Linear("H", "A", "W", schedule.SiLU()),
		schedule.Linear("C", "H", "V")), driver.BF16,
		"A 0.25@0 W 0.25@7 V 1@-7 H 1.9@7 C 60.9@0 exact"},
	{"a gate of a product", chain("A[mK] W[fK] V[Nf] H[Mf] C[mN]", schedule.Linear("H", "A", "W", schedule.SiLU()),
		schedule.Linear("C", "H", "V")), driver.FP16,
		"A 0.25@0 W 0.25@5 V 1@-5 H 1.9@5 C 60.9@0 exact"},
	{"a gate for the caller", chain("A[mK] W[NK] C[mN]", schedule.Linear("C", "A", "W", schedule.SiLU())), driver.BF16,
		"A 0.25@0 W 0.25@0 C 1.64@0 real"},
	{"the library's gate", chain("A[mK] W[fK] V[Nf] H[Mf] C[mN]", schedule.Linear("H", "A", "W", schedule.GELU()),
		schedule.Linear("C", "H", "V")), driver.BF16,
		"A 0.25@0 W 0.25@4 V 1@-4 H 1.9@4 C 60.9@0 exact"},
	{"copies ahead of a gate", chain("A[mK] W[fK] G[Mf] H[Mf] V[Nf] C[mN]", schedule.Linear("G", "A", "W"),
		schedule.Copy("H", "G", schedule.SiLU()), schedule.Linear("C", "H", "V")), driver.BF16,
		"A 0.25@0 W 0.25@7 G 4@7 H 1.9@7 V 1@-7 C 60.9@0 exact"},
	{"a copy of a sum", chain("A[mK] W[fK] G[Mf] H[Mf] I[Mf] V[Nf] C[mN]", schedule.Linear("G", "A", "W"),
		schedule.Copy("H", "G"), schedule.Copy("I", "H", schedule.SiLU()), schedule.Linear("C", "I", "V")), driver.BF16,
		"A 0.25@0 W 0.25@7 G 4@7 H 4@7 I 1.9@7 V 1@-7 C 60.9@0 exact"},
	{"fourth powers", chain("A[mK] H[mK] W[NK] C[mN]", schedule.Copy("H", "A", raised(4)),
		schedule.Linear("C", "H", "W")), driver.FP32,
		"A 1@0 H 82.3@0 W 1@0 C 5.27e+03@0 exact"},
	{"a gate with a tensor", chain("A[mK] Up[fK] Gate[fK] Down[Nf] U[Mf] G[Mf] R[mN] C[mN]",
		schedule.Linear("U", "A", "Up"), schedule.Linear("G", "A", "Gate", schedule.SwiGLU("U")),
		schedule.Linear("C", "G", "Down", schedule.Add("R"))), driver.BF16,
		"A 0.25@0 Up 0.25@0 Gate 0.25@7 Down 1@-7 U 4@0 G 1.9@7 R 1@0 C 60.9@0 exact"},
	{"a residual that is an operand", chain("A[mK] W[KK] X[mK] C[mK]",
		schedule.Linear("X", "A", "W", schedule.Add("A")), schedule.Linear("C", "X", "W")), driver.BF16,
		"A 0.25@0 W 0.25@0 X 5.01@0 C 80.2@0 exact"},
	{"a residual at the end", chain("A[mK] W[KK] C[mK]", schedule.Linear("C", "A", "W", schedule.Add("A"))),
		driver.BF16,
		"A 0.25@0 W 0.25@0 C 5.01@0 exact"},
	{"one sum of two products", chain("A[Mk] B[Nk] E[Mf] B2[Nf] R[mN] X[mN] C[mN]", schedule.Linear("P", "A", "B"),
		schedule.Linear("X", "E", "B2", schedule.Add("P"), schedule.Add("R")),
		schedule.Copy("C", "X", schedule.SiLU())),
		driver.BF16,
		"A 1@0 B 1@0 E 0.354@0 B2 0.354@0 R 1@0 X 68@0 C 31.3@0 real"},
	{"one weight again and again", chain("A[mK] W[KK] X[mK] Y[mK] Z[mK] C[mK]", schedule.Linear("X", "A", "W"),
		schedule.Linear("Y", "X", "W"), schedule.Linear("Z", "Y", "W"), schedule.Linear("C", "Z", "W")), driver.BF16,
		"A 0.25@0 W 0.25@0 X 4@0 Y 64@0 Z 1.02e+03@0 C 1.64e+04@0"},
	{"a norm that goes on", chain("A[mK] V[K] H[mK] W[NK] C[mN]", schedule.Copy("H", "A", schedule.RMSNorm("V")),
		schedule.Linear("C", "H", "W")), driver.BF16,
		"A 1@0 V 1@0 H 1@0 real W 1@0 C 64.1@0 real"},
	{"a small scale", chain("A[mK] H[mK] W[NK] C[mN]", schedule.Copy("H", "A", scaledBy(-3)),
		schedule.Linear("C", "H", "W")), driver.BF16,
		"A 1@3 H 1.07@0 W 1@0 C 68.2@0 exact"},
	{"a large scale", chain("A[mK] H[mK] W[NK] C[mN]", schedule.Copy("H", "A", scaledBy(22)),
		schedule.Linear("C", "H", "W")), driver.BF16,
		"A 1@0 H 17.1@20 W 0.938@-20 C 1.02e+03@0 exact"},
	{"zeros alone", chain("A[mK] H[mK] W[NK] C[mN]", schedule.Copy("H", "A", schedule.Scale(0)),
		schedule.Linear("C", "H", "W")), driver.BF16,
		"A 1@0 H 1@0 real W 1@0 C 64@0 real exact"},
	{"a call", chain("A[mK] W[fK] H[Mf] T[Mf] O[Mf] V[Nf] C[mN]", schedule.Linear("H", "A", "W", schedule.SiLU()),
		schedule.Call("O", "Own", "mn,mn->mn", "H", "T"), schedule.Linear("C", "O", "V")), driver.BF16,
		"A 0.25@0 W 0.25@7 H 1.9@7 T 1@0 O 1.9@0 V 1@0 C 60.9@0 exact"},
	{"a square of a square", chain("A[mK] H[mK] W[NK] C[mN]", schedule.Copy("H", "A", raised(6)),
		schedule.Linear("C", "H", "W")), driver.FP32,
		"A 1@0 H 4.64e+03@0 W 1@0 C 2.97e+05@0 exact"},
	{"a sum for a gate and for a copy", chain("A[mK] W[fK] G[Mf] E[Mf] C[Mf]", schedule.Linear("G", "A", "W"),
		schedule.Copy("E", "G"), schedule.Copy("C", "G", schedule.SiLU())), driver.BF16,
		"A 0.25@0 W 0.25@0 G 4@0 E 4@0 C 1.64@0 real"},
	{"a residual of another grid", chain("A[mK] W[fK] H[Mf] V[Kf] X[mK] W2[NK] C[mN]",
		schedule.Linear("H", "A", "W", schedule.SiLU()), schedule.Linear("X", "H", "V", schedule.Add("A")),
		schedule.Linear("C", "X", "W2")), driver.BF16,
		"A 0.25@0 W 0.25@7 H 1.9@7 V 0.0657@-7 X 4.25@0 W2 1@0 C 272@0 exact"},
	{"a norm and a residual", chain("A[mK] V[K] R[mK] H[mK] W[KK] X[mK] W2[NK] C[mN]",
		schedule.Copy("H", "A", schedule.RMSNorm("V")), schedule.Linear("X", "R", "W", schedule.Add("H")),
		schedule.Linear("C", "X", "W2", schedule.SiLU())), driver.BF16,
		"A 1@0 V 1@0 R 0.25@0 H 1@0 real W 0.25@0 X 5.01@0 W2 0.0125@0 C 1.64@0 real"},
	{"a norm, and its call", chain("A[mK] V[K] H[mK] T[mK] O[mK] W[NK] C[mN]",
		schedule.Copy("H", "A", schedule.RMSNorm("V")), schedule.Call("O", "Own", "mn,mn->mn", "T", "H"),
		schedule.Linear("C", "O", "W")), driver.BF16,
		"A 1@0 V 1@0 H 1@0 real T 1@0 O 1@0 real W 1@0 C 64.1@0 real"},
	{"a gate ahead of a call", chain("A[mK] W[fK] H[Mf] O[Mf]", schedule.Linear("H", "A", "W", schedule.SiLU()),
		schedule.Call("O", "Own", "mn->mn", "H")), driver.BF16,
		"A 0.25@0 W 0.25@7 H 1.9@7 O 1.9@7 exact"},
	{"a weight that is multiplied twice", chain("A[mK] W[KK] X[mK] H[mK] C[mK]", schedule.Linear("X", "A", "W"),
		schedule.Copy("H", "X", scaledBy(2)), schedule.Linear("C", "H", "W")), driver.BF16,
		"A 0.25@0 W 0.25@0 X 4@0 H 3.96@2 C 63.3@2 exact"},
	{"a sum that is too large", chain("A[mK] R[mK] H[mK] X[mK] C[mK]", schedule.Copy("H", "A", raised(6)),
		schedule.Copy("X", "R", schedule.Add("H")), schedule.Copy("C", "X", schedule.Scale(2))), driver.BF16,
		"A 1@0 R 1@0 H 4.63e+03@0 X 2.09@0 C 2.04@1 exact"},
	{"two products of large numbers", chain("A[mK] H[mK] B[NK] E[mK] I[mK] B2[NK] P[mN] X[mN] C[mN]",
		schedule.Copy("H", "A", raised(6)), schedule.Copy("I", "E", scaledBy(3)), schedule.Linear("P", "H", "B"),
		schedule.Linear("X", "I", "B2", schedule.Add("P")), schedule.Copy("C", "X", schedule.ReLU())), driver.BF16,
		"A 1@0 H 4.63e+03@0 B 1.35e-05@0 E 1@0 I 1.07@3 B2 0.0586@-3 P 4@0 X 5.01@0 C 2.28@0"},
	{"no number", chain("A[mK] H[mK] W[NK] C[mN]", schedule.Copy("H", "A", schedule.Func{Is: schedule.Over(
		schedule.X, schedule.Minus(schedule.X, schedule.X))}), schedule.Linear("C", "H", "W")), driver.BF16,
		"A 1@0 H 1@0 real W 1@0 C 64@0 real"},
	{"e4m3 by e4m3", chainOfEight(), driver.BF16,
		"A 0.25@0 W 0.25@7 H 1.9@7 V 1@-7 C 60.9@0 exact"},
	{"sixth powers", chain("A[mK] H[mK] W[NK] C[mN]", schedule.Copy("H", "A", raised(6)),
		schedule.Linear("C", "H", "W")), driver.BF16,
		"A 1@0 H 4.63e+03@0 W 0.00346@0 C 1.02e+03@0 exact"},
	{"a block", chain("A[Mk] B[Kk] R[mK] W[fK] V[Kf] X[mK] H[Mf] C[mK]",
		schedule.Linear("X", "A", "B", schedule.Add("R")), schedule.Linear("H", "X", "W", schedule.GELU()),
		schedule.Linear("C", "H", "V", schedule.Add("X"))), driver.BF16,
		"A 0.25@0 B 0.25@0 R 1@0 W 0.0156@4 V 1@-4 X 4@0 H 1.9@4 C 60.9@0 exact"},
	{"a gate of one sum of two products", chain("A[Mk] B[Nk] E[Mf] B2[Nf] X[mN] V[KN] C[mK]",
		schedule.Linear("P", "A", "B"), schedule.Linear("X", "E", "B2", schedule.Add("P"), schedule.SiLU()),
		schedule.Linear("C", "X", "V")), driver.BF16,
		"A 1@0 B 1@0 E 0.354@0 B2 0.354@7 X 3.02e+04@0 real V 0.00141@0 C 1.02e+03@0 real"},
	{"a sum that ends with a norm", chain("T[mK] N[K] H[mK] A[Mk] B[Kk] X[mK] W[NK] C[mN]",
		schedule.Copy("H", "T", schedule.RMSNorm("N")), schedule.Linear("X", "A", "B", schedule.Add("H")),
		schedule.Linear("C", "X", "W")), driver.BF16,
		"T 1@0 N 1@0 H 1@0 real A 0.25@0 B 0.25@0 X 5@0 real W 1@0 C 320@0 real"},
	{"a sum that ends with large numbers", chain("T[mK] H[mK] A[Mk] B[Kk] X[mK] W[NK] C[mN]",
		schedule.Copy("H", "T", raised(6)), schedule.Linear("X", "A", "B", schedule.Add("H")),
		schedule.Linear("C", "X", "W")), driver.BF16,
		"T 1@0 H 4.63e+03@0 A 0.25@0 B 0.25@0 X 4.63e+03@0 W 0.00345@0 C 1.02e+03@0"},
	{"a call's second operand", chain("A[mK] W[fK] H[Mf] T[Mf] O[Mf]",
		schedule.Linear("H", "A", "W", schedule.SiLU()), schedule.Call("O", "Own", "mn,mn->mn", "T", "H")),
		driver.BF16,
		"A 0.25@0 W 0.25@7 H 1.9@7 T 1@0 O 1.9@0 exact"},
	{"the library's gate at the end", chain("A[mK] W[KK] H[mK] V[NK] C[mN]",
		schedule.Linear("H", "A", "W", schedule.SiLU()), schedule.Linear("C", "H", "V", schedule.GELU())), driver.BF16,
		"A 0.25@0 W 0.25@7 H 1.9@7 V 1@-3 C 55.9@4 exact"},
	{"a scale, and a gate of its copy", chain("A[mK] W[fK] G[Mf] H[Mf] V[Nf] C[mN]",
		schedule.Linear("G", "A", "W", schedule.Scale(2)), schedule.Copy("H", "G", schedule.SiLU()),
		schedule.Linear("C", "H", "V")), driver.BF16,
		"A 0.25@0 W 0.25@0 G 3.96@1 H 7.28@0 real V 1@0 C 233@0 real"},
	{"the library's, and a gate of its copy", chain("A[mK] W[fK] G[Mf] H[Mf] V[Nf] C[mN]",
		schedule.Linear("G", "A", "W", schedule.ReLU()), schedule.Copy("H", "G", schedule.SiLU()),
		schedule.Linear("C", "H", "V")), driver.BF16,
		"A 0.25@0 W 0.25@0 G 1.9@0 H 0.658@0 real V 1@0 C 21.1@0 real"},
	{"a cubic with zeros", chain("A[mK] W[fK] H[Mf] V[Nf] C[mN]", schedule.Linear("H", "A", "W", schedule.Func{
		Is: schedule.Times(schedule.X, schedule.Minus(schedule.X, schedule.Num(1)), schedule.Plus(schedule.X,
			schedule.Num(1)), schedule.Num(.25))}), schedule.Linear("C", "H", "V")), driver.BF16,
		"A 0.25@0 W 0.25@2 H 1.9e+05@0 V 0.000168@0 C 1.02e+03@0"},
	{"what overflows", chain("A[mK] W[fK] H[Mf] V[Nf] C[mN]", schedule.Linear("H", "A", "W", schedule.Func{
		Is: schedule.Times(schedule.X, schedule.Exp(schedule.X))}), schedule.Linear("C", "H", "V")), driver.BF16,
		"A 0.25@0 W 0.25@0 H 5.46e+03@0 real V 0.00586@0 C 1.02e+03@0 real"},
	{"what is nearly zero", chain("A[mK] W[fK] H[Mf] V[Nf] C[mN]", schedule.Linear("H", "A", "W", schedule.Func{
		Is: schedule.Times(schedule.Abs(schedule.X), schedule.Exp(schedule.Neg(schedule.Abs(schedule.X))))}),
		schedule.Linear("C", "H", "V")), driver.FP32,
		"A 0.25@0 W 0.25@0 H 0.0658@0 real V 1@0 C 2.11@0 real"},
	{"what is nearly one", chain("A[mK] W[fK] H[Mf] V[Nf] C[mN]", schedule.Linear("H", "A", "W", schedule.Func{
		Is: schedule.Tanh(schedule.Times(schedule.X, schedule.Num(128)))}), schedule.Linear("C", "H", "V")),
		driver.FP32,
		"A 0.25@0 W 0.25@0 H 0.795@0 V 1@0 C 25.4@0"},
	{"a product with a tensor of a grid", chain("A[mK] Up[fK] Gate[fK] Down[Nf] U[Mf] G[Mf] C[mN]",
		schedule.Linear("U", "A", "Up", schedule.SiLU()), schedule.Linear("G", "A", "Gate", schedule.Multiply("U")),
		schedule.Linear("C", "G", "Down")), driver.BF16,
		"A 0.25@0 Up 0.25@7 Gate 0.25@0 Down 1@-7 U 1.9@7 G 3.96@7 C 127@0 exact"},
	{"a norm that is scaled", chain("A[mK] V[K] H[mK] X[mK] W[NK] C[mN]",
		schedule.Copy("H", "A", schedule.RMSNorm("V")), schedule.Copy("X", "H", schedule.Scale(2)),
		schedule.Linear("C", "X", "W")), driver.BF16,
		"A 1@0 V 1@0 H 1@0 real X 3.85@0 real W 1@0 C 246@0 real"},
	{"eight bits", quantising(), driver.BF16,
		"A 7@0 Q 6.8@0 SQ 0@0 B 0.147@0 SB 0@0 C 1.02e+03@0 exact"},
}

// chainOfEight is a product by a weight of eight bits whose rows are made on a grid.
func chainOfEight() *Problem {
	p := chain("A[mK] W[fK] H[Mf] V[Nf] C[mN]", schedule.Linear("H", "A", "W", schedule.SiLU()),
		schedule.Linear("C", "H", "V"))
	for i := range p.Tensors {
		if p.Tensors[i].Name == "V" {
			p.Tensors[i].Type = schedule.E4M3
		}
	}
	return p
}

// drawnText prints the drawn and the derived values of each tensor.
func drawnText(p *Problem) string {
	d, text := p.draws(), ""
	for _, t := range p.Tensors {
		v := d.values[t.Name]
		text += fmt.Sprintf("%s %.3g@%d ", t.Name, v.density, v.grid)
		if v.real {
			text += "real "
		}
	}
	if d.exact {
		text += "exact"
	}
	return strings.TrimSpace(text)
}

// TestChoices compares drawn values with the list, and values derived of results with results.
func TestChoices(t *testing.T) {
	for _, c := range choices {
		p := c.p
		p.Type = c.typ
		if err := p.Check(); err != nil {
			t.Fatalf("%s: %v", c.of, err)
		}
		if got := drawnText(p); got != c.want {
			t.Errorf("%s: got %s\nwant %s", c.of, got, c.want)
		}
		for name, v := range p.Results(inputs(p, false)) {
			if _, scales := p.schedule().ScaledBy(name); scales {
				continue
			}
			of := p.draws().values[name]
			for i, x := range v.Want {
				if !of.real && math.Mod(x, math.Ldexp(1, of.grid)) != 0 || p.draws().exact && !v.At(i).IsPoint() {
					t.Fatalf("%s: element %d of %s is %v, and its grid is of %d", c.of, i, name, v.At(i), of.grid)
				}
			}
		}
	}
}

// TestMostOfGrids: on a grid, a type holds as many numbers as it has digits for, and none beyond its largest ones.
func TestMostOfGrids(t *testing.T) {
	for _, x := range []struct {
		typ  driver.Type
		grid int
		want float64
	}{{driver.BF16, 0, 256}, {driver.BF16, 20, 256}, {driver.FP16, 0, 2048}, {driver.FP16, 4, 2048},
		{driver.FP16, 10, 32}} {
		if got := (&drawing{Problem: &Problem{Type: x.typ}}).most(x.grid); got != x.want {
			t.Errorf("%s on a grid of %d: %g, want %g", x.typ, x.grid, got, x.want)
		}
	}
}
