package reference

import (
	"math"
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// Operations of a gated layer, whose residual is its input.
var (
	up     = schedule.Linear("U", "A", "Up")
	gates  = schedule.Linear("G", "A", "Gate", schedule.SwiGLU("U"))
	down   = schedule.Linear("X", "G", "Down", schedule.Add("A"))
	second = []schedule.Op{schedule.Linear("H", "X", "W", schedule.GELU()),
		schedule.Linear("C", "H", "V", schedule.Add("X"))}
)

// deep are chains that read operands again, or several functions.
var deep = map[string]*Problem{
	"two layers": chain("A[mK] Up[fK] Gate[fK] Down[Kf] W[fK] V[Kf] C[mK]", append([]schedule.Op{up, gates, down},
		second...)...),
	"one weight": chain("A[mK] W[fK] V[Nf] C[mN]", schedule.Linear("U", "A", "W"),
		schedule.Linear("G", "A", "W", schedule.SwiGLU("U")), schedule.Linear("C", "G", "V")),
	"a residual that goes on": chain("A[mK] W[fK] V[Kf] C[mK]", schedule.Linear("H", "A", "W", schedule.GELU()),
		schedule.Linear("X", "H", "V", schedule.Add("A")), schedule.Linear("I", "X", "W", schedule.GELU()),
		schedule.Linear("C", "I", "V")),
}

// TestDeep: results of long chains are within bounds, which are tight enough to see each mistake. All are exact but
// that of one weight, which would have to be on two grids.
func TestDeep(t *testing.T) {
	for name, p := range deep {
		for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
			p.Type = typ
			if err := p.Check(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			in := inputs(p, false)
			want := p.Results(in)["C"]
			if exact := name != "one weight"; p.draws().exact != exact || exact && want.Points() < len(want.Want) {
				t.Errorf("%s %s: exact is %t, and %d of %d elements are one number", name, typ, p.draws().exact,
					want.Points(), len(want.Want))
			}
			if n := want.outside(p.onDevice(in)["C"]); n > 0 {
				t.Errorf("%s %s: %d right elements are out of bounds", name, typ, n)
			}
			for mistake, wrong := range p.mistakes() {
				if err := wrong.Check(); err != nil {
					t.Fatalf("%s, %s: %v", name, mistake, err)
				}
				got := wrong.onDevice(in)["C"]
				if n, of := want.outside(got), len(got); n < of/20 {
					t.Errorf("%s %s, %s: %d of %d elements are out of bounds", name, typ, mistake, n, of)
				}
			}
		}
	}
}

// TestHostOnly: products of the device are no reference where their sums are not exact, as by one weight again and
// again.
func TestHostOnly(t *testing.T) {
	ops := []schedule.Op{schedule.Linear("X1", "A", "W")}
	for _, out := range []string{"X2", "X3", "X4", "X5", "X6", "C"} {
		ops = append(ops, schedule.Linear(out, ops[len(ops)-1].Out, "W"))
	}
	for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
		p := chain("A[mK] W[KK] C[mK]", ops...)
		p.Type = typ
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		if want := typ == driver.BF16; p.HostOnly() != want {
			t.Errorf("%s: for the host alone is %t", typ, !want)
		}
	}
}

// TestSizes: results behind norms, which are no integers, are of sizes that a type holds well, as others are.
func TestSizes(t *testing.T) {
	of := schedule.Copy("X", "A", schedule.RMSNorm("Norm"))
	least := map[string]float64{"a gate": 32, "gelu": 16, "a layer": 8}
	for name, p := range map[string]*Problem{
		"a gate": chain("A[mK] Norm[K] Up[fK] Gate[fK] Down[Kf] C[mK]", of, schedule.Linear("U", "X", "Up"),
			schedule.Linear("G", "X", "Gate", schedule.GeGLU("U")), schedule.Linear("C", "G", "Down")),
		"gelu": chain("A[mK] Norm[K] W[fK] V[Kf] C[mK]", of, schedule.Linear("H", "X", "W", schedule.GELU()),
			schedule.Linear("C", "H", "V")),
		"a layer": deep["two layers"],
	} {
		for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
			p.Type = typ
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			in, squares := inputs(p, false), 0.0
			want := p.Results(in)["C"]
			for _, x := range want.Want {
				squares += x * x / float64(len(want.Want))
			}
			if size := math.Sqrt(squares); size < least[name] || size > 1<<14 {
				t.Errorf("%s %s: results deviate by %g", name, typ, size)
			}
			if n := want.outside(p.onDevice(in)["C"]); n > 0 {
				t.Errorf("%s %s: %d right elements are out of bounds", name, typ, n)
			}
		}
	}
}

// outside is how many elements are out of bounds.
func (v Values) outside(got []float32) (n int) {
	for i, x := range got {
		if !v.Holds(i, float64(x)) {
			n++
		}
	}
	return n
}

// mistakes are problems of one wrong operation each.
func (p *Problem) mistakes() map[string]*Problem {
	all := map[string]*Problem{}
	for i, o := range p.Ops {
		change := func(what string, o schedule.Op) {
			wrong := *p
			wrong.Ops = slices.Clone(p.Ops)
			wrong.Ops[i] = o
			all[what+" "+o.Out] = &wrong
		}
		if len(o.Then) > 0 {
			change("no function of", schedule.Linear(o.Out, o.In[0], o.In[1]))
		}
		for _, t := range p.Tensors {
			if t.Name != o.In[1] && !p.Result(t.Name) && slices.EqualFunc(t.Axes, p.Tensor(o.In[1]).Axes,
				func(a, b schedule.Axis) bool { return a.Extent == b.Extent }) {
				change("the weight "+t.Name+" of", schedule.Linear(o.Out, o.In[0], t.Name, o.Then...))
			}
		}
	}
	return all
}

// TestRoundedOnce: the input as the residual of a gated layer leaves results that are rounded once, and the same on a
// device.
func TestRoundedOnce(t *testing.T) {
	p := chain("A[mK] Up[fK] Gate[fK] Down[Kf] X[mK]", up, gates, down)
	for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
		p.Type = typ
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		in := inputs(p, false)
		want, got := p.Results(in)["X"], p.onDevice(in)["X"]
		if n, of := want.Points(), len(got); n < of {
			t.Fatalf("%s: %d of %d elements are one number", typ, n, of)
		}
		for i, x := range got {
			if float64(x) != want.Want[i] {
				t.Fatalf("%s: element %d is %g, want %g", typ, i, x, want.Want[i])
			}
		}
	}
}

// TestBiasWithin: a bias that is not one number on every device makes no product that is.
func TestBiasWithin(t *testing.T) {
	p := Product{M: 1, K: 1, N: 1, Type: driver.FP16}
	bias := Values{[]float64{1}, []float64{.5}, []float64{2}}
	c := p.Of(points([]float64{3}), points([]float64{4}), bias, Values{})
	if c.Lo[0] > 12.5 || c.Hi[0] < 14 || c.Lo[0] < 12.4 || c.Hi[0] > 14.1 {
		t.Errorf("3*4 and a bias of .5 to 2 are %v", c.At(0))
	}
}
