package reference

import (
	"maps"
	"math"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/formula"
	"ovgen/verify/reading"
)

// chain is operations on tensors with a letter for each axis: M, K, N and F are whole, m, k and f over the ranks.
func chain(tensors string, ops ...schedule.Op) *Problem {
	p := &Problem{Ops: ops, Extents: reading.Extents{schedule.D: 4, schedule.M: 16, schedule.K: 64, schedule.N: 24,
		schedule.F: 32}}
	axes := map[rune]schedule.Axis{'M': m, 'K': k, 'N': n, 'F': schedule.Dim(schedule.F), 'k': inK, 'f': inF, 'm': rows}
	for _, text := range strings.Fields(tensors) {
		name, letters, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
		t := schedule.Tensor{Name: name}
		for _, l := range letters {
			t.Axes = append(t.Axes, axes[l])
		}
		p.Tensors = append(p.Tensors, t)
	}
	p.Ops = p.schedule().Joined().Ops
	return p
}

// chains are operations of every sort that go on, or apply what no product applies.
var chains = map[string]*Problem{
	"silu":   chain("A[MN] C[MN]", schedule.Copy("C", "A", schedule.SiLU())),
	"geglu":  chain("A[MN] U[MN] C[MN]", schedule.Copy("C", "A", schedule.GeGLU("U"))),
	"swiglu": chain("A[MN] U[MN] C[MN]", schedule.Copy("C", "A", schedule.SwiGLU("U"))),
	"norm": chain("A[MN] Norm[N] C[MN]",
		schedule.Copy("C", "A", schedule.RMSNorm("Norm"))),
	"residual": chain("A[Mk] B[Nk] Bias[N] R[MN] C[MN]",
		schedule.Linear("C", "A", "B", schedule.Bias("Bias"), schedule.Add("R"))),
	"gated": chain("A[mK] Up[fK] Gate[fK] Down[Nf] R[mN] C[mN]",
		schedule.Linear("U", "A", "Up"), schedule.Linear("G", "A", "Gate", schedule.SwiGLU("U")),
		schedule.Linear("C", "G", "Down", schedule.Add("R"))),
	"two products": chain("A[Mk] B[Kk] R[mK] W[fK] V[Kf] C[mK]",
		schedule.Linear("X", "A", "B", schedule.Add("R")), schedule.Linear("H", "X", "W", schedule.GELU()),
		schedule.Linear("C", "H", "V")),
	"block": chain("A[Mk] B[Kk] R[mK] W[fK] V[Kf] C[mK]",
		schedule.Linear("X", "A", "B", schedule.Add("R")), schedule.Linear("H", "X", "W", schedule.GELU()),
		schedule.Linear("C", "H", "V", schedule.Add("X"))),
	"side by side": chain("A[Mk] B[Nk] E[Mf] B2[Nf] R[mN] C[mN]", schedule.Linear("P", "A", "B"),
		schedule.Linear("C", "E", "B2", schedule.Add("P"), schedule.Add("R"))),
	"normed": chain("A[mK] Norm[K] W[fK] V[Nf] C[mN]",
		schedule.Copy("X", "A", schedule.RMSNorm("Norm")), schedule.Linear("H", "X", "W", schedule.SiLU()),
		schedule.Linear("C", "H", "V")),
}

// whole are chains of sums that no rank has a part of: their bounds are tight.
var whole = map[string]*Problem{
	"added": chain("A[MK] B[NK] R[MN] C[MN]",
		schedule.Linear("C", "A", "B", schedule.Add("R"))),
	"added twice": chain("A[MK] B[NK] C[MN]",
		schedule.Linear("X", "A", "B"), schedule.Linear("C", "A", "B", schedule.Add("X"))),
	"norm of a sum": chain("A[MK] B[NK] Norm[N] C[MN]",
		schedule.Linear("X", "A", "B"), schedule.Copy("C", "X", schedule.RMSNorm("Norm"))),
	"gate of sums": chain("A[MK] B[NK] Up[NK] C[MN]",
		schedule.Linear("U", "A", "Up"), schedule.Linear("C", "A", "B", schedule.SwiGLU("U"))),
}

// TestDrawn: chains of integers are exact in every type, unless formulas norm rows or make what the caller gets. The
// end of a block is rounded, once.
func TestDrawn(t *testing.T) {
	for name, p := range chains {
		for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
			p.Type = typ
			if err := p.Check(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			exact := p.Multiplies() && name != "normed"
			if p.draws().exact != exact {
				t.Errorf("%s is exact: %v", name, p.draws().exact)
			} else if exact && name != "block" {
				p.exact(t, name)
			}
		}
	}
}

// TestChainBound holds chains in fp32, every result rounded on the way, against float64: they are within the bound, and
// results further off are not where one function alone makes them.
func TestChainBound(t *testing.T) {
	all := maps.Clone(chains)
	maps.Copy(all, whole)
	for name, p := range all {
		for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
			p.Type = typ
			if err := p.Check(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			in := inputs(p, true)
			want, got := p.Results(in)["C"], p.onDevice(in)["C"]
			caught := 0
			for i, x := range got {
				if !want.Holds(i, float64(x)) {
					t.Errorf("%s %s: element %d, %g, is not in [%g, %g]", name, typ, i, x, want.Lo[i], want.Hi[i])
				}
				if !want.Holds(i, float64(decode(typ, encode(typ, x)+3))) {
					caught++
				}
			}
			if alone := len(p.steps) == 1 && !p.Multiplies(); alone && typ != driver.FP32 && caught < len(got)*9/10 {
				t.Errorf("%s %s: %d of %d results three units off were caught", name, typ, caught, len(got))
			}
		}
	}
}

// onDevice are the operations as devices make them: sums in fp32 in another order, partial sums and tensors rounded.
func (p *Problem) onDevice(in map[string]Input) map[string][]float32 {
	v := map[string][]float32{}
	for name, x := range in {
		for _, e := range x.Values(p.Type, p.Elements(name)).Want {
			v[name] = append(v[name], float32(e))
		}
	}
	for _, s := range p.steps {
		made := append([]float32(nil), v[s.A]...)
		if s.Does == Multiplies {
			made = s.onDevice(v, p.stepsOf(s.Terms))
		}
		for i := range made {
			if s.Added != "" {
				made[i] += v[s.Added][i]
			}
			made[i] = Round(p.Type, made[i])
		}
		for _, f := range s.Made {
			made = p.functionOnDevice(f, made, v)
		}
		v[s.C] = made
	}
	return v
}

// onDevice is a product of the transposed, its partial sums one of each part, which is added to those of the terms.
func (s Step) onDevice(v map[string][]float32, terms []Step) (made []float32) {
	parts := max(s.Parts, 1)
	for i := range s.M {
		for j := range s.N {
			var sum float32
			for part := parts - 1; part >= 0; part-- {
				var partial float32
				for _, x := range append(terms[:len(terms):len(terms)], s) {
					for k := x.K*(part+1)/parts - 1; k >= x.K*part/parts; k-- {
						partial += v[x.A][i*x.K+k] * v[x.B][j*x.K+k]
					}
					if parts > 1 {
						partial = Round(s.Type, partial)
					}
				}
				sum += partial
			}
			if s.Bias != "" {
				sum += v[s.Bias][j]
			}
			sum = float32(formula.ByLibrary(s.Func, formula.Point(float64(sum))).Want)
			made = append(made, sum)
		}
	}
	return made
}

// functionOnDevice is a function that no product applies.
func (p *Problem) functionOnDevice(f schedule.Func, x []float32, v map[string][]float32) []float32 {
	made := make([]float32, len(x))
	columns := 1
	if f.Word == "rmsnorm" {
		columns = len(v[f.Reads()[0]])
	}
	var of []float32
	for _, name := range f.Reads() {
		of = v[name]
	}
	for first := 0; first < len(x); first += columns {
		var squares float32
		for i := columns - 1; i >= 0; i-- {
			squares += x[first+i] * x[first+i]
		}
		scale := 1 / float32(math.Sqrt(float64(squares/float32(columns)+float32(schedule.DefaultEpsilon))))
		for i := first; i < first+columns; i++ {
			u := 0.7978845608 * (x[i] + 0.044715*x[i]*x[i]*x[i])
			gate := x[i] / (1 + float32(math.Exp(float64(-x[i]))))
			switch f.Word {
			case "add":
				made[i] = x[i] + of[i]
			case "silu":
				made[i] = gate
			case "geglu":
				made[i] = x[i] / (1 + float32(math.Exp(float64(-2*u)))) * of[i]
			case "swiglu":
				made[i] = gate * of[i]
			case "rmsnorm":
				made[i] = x[i] * scale * of[i-first]
			}
			made[i] = Round(p.Type, made[i])
		}
	}
	return made
}
