package formula_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"ovgen/schedule"
	"ovgen/verify/formula"
)

// widths of heads in the tests, and operands of each name.
const columns, head = 96, 16

func width(schedule.Extent) int { return head }

func epsilon(string) float64 { return 1e-5 }

// functions are formulas that have every operation.
var functions = map[string]schedule.Func{
	"rmsnorm": schedule.RMSNorm("A"), "layernorm": schedule.LayerNorm("A", "B"), "silu": schedule.SiLU(),
	"gelu": schedule.GELU(), "relu": schedule.ReLU(), "swiglu": schedule.SwiGLU("A"), "geglu": schedule.GeGLU("A"),
	"bias": schedule.Bias("A"), "add": schedule.Add("A"), "rotary": schedule.Rotary("A"),
	"interleaved": schedule.Rotary("A").Interleaved(), "some": schedule.RotaryOf(8, "16", "A"),
	"softcap": schedule.SoftCap(3), "relu2": schedule.SquaredReLU(), "quickgelu": schedule.QuickGELU(),
	"gelubyerf": schedule.GELUByErf(), "softmax": schedule.Softmax(), "modulate": schedule.Modulate("A", "B"),
	"head norm": schedule.RMSNorm("A").PerHead("16"), "sigmoid": schedule.Sigmoid(),
	"quantise": schedule.Quantise(), "quantisee5m2": schedule.QuantiseE5M2(), "quantisefp4": schedule.QuantiseFP4(),
	"quantisemxfp4": schedule.QuantiseMXFP4(), "dequantise": schedule.Dequantise("A"),
	"scale": schedule.Scale(.25), "multiply": schedule.Multiply("A"), "reglu": schedule.ReGLU("A"),
	"rest": {Is: schedule.Minus(schedule.Least(schedule.Root(schedule.Abs(schedule.X)),
		schedule.Log(schedule.Plus(schedule.Num(1), schedule.Abs(schedule.X)))), schedule.Column("A"))},
}

// tree is a function's, with the heads' width in all that need one.
func tree(f schedule.Func) []schedule.Node {
	table := schedule.Schedule{Tensors: []schedule.Tensor{{Name: "A", Axes: []schedule.Axis{
		schedule.Dim(schedule.M), schedule.Dim("16")}}}}
	return schedule.Nodes(table.Tree(f))
}

// device is a row in fp32: exp and the like up to 2 units off, and sums in the order of kernels.
type device struct {
	x       []float32
	operand func(tensor string, i int) float32
	random  *rand.Rand
}

func (d *device) off(x float64) float32 {
	y := float32(x)
	if math.IsInf(float64(y), 0) {
		return y
	}
	for range d.random.IntN(3) {
		y = math.Nextafter32(y, float32(math.Inf(2*d.random.IntN(2)-1)))
	}
	return y
}

func (d *device) of(nodes []schedule.Node) []float32 {
	made := make([][]float32, len(nodes))
	for i, n := range nodes {
		made[i] = make([]float32, len(d.x))
		for j := range d.x {
			args := [2]float32{}
			for k, of := range n.Of {
				args[k] = made[of][j]
			}
			made[i][j] = d.node(n, made, j, args[0], args[1])
		}
	}
	return made[len(nodes)-1]
}

// node is element j of a node, of the elements a and b of its arguments.
func (d *device) node(n schedule.Node, made [][]float32, j int, a, b float32) float32 {
	if f, leaf := leaves[n.Do]; leaf {
		return f(d, n, j)
	}
	if f, unary := unaries[n.Do]; unary {
		return f(d, a)
	}
	if f, binary := binaries[n.Do]; binary {
		return f(a, b)
	}
	group := made[n.Of[0]]
	switch at := j % head; {
	case n.Do == schedule.DoBelow && at < int(n.Number):
		return a
	case n.Do == schedule.DoBelow:
		return b
	case n.Do == schedule.DoTurn && at < head/2:
		return -group[j+head/2]
	case n.Do == schedule.DoTurn:
		return group[j-head/2]
	case n.Do == schedule.DoPairs && at%2 == 0:
		return -group[j+1]
	case n.Do == schedule.DoPairs:
		return group[j-1]
	}
	if n.Group != "" {
		group = group[j/head*head : j/head*head+head]
	}
	return statistic(n.Do, group)
}

// leaves are element j of nodes without arguments.
var leaves = map[schedule.Do]func(d *device, n schedule.Node, j int) float32{
	schedule.DoX:       func(d *device, _ schedule.Node, j int) float32 { return d.x[j] },
	schedule.DoNumber:  func(_ *device, n schedule.Node, _ int) float32 { return float32(n.Number) },
	schedule.DoParam:   func(_ *device, n schedule.Node, _ int) float32 { return float32(epsilon(n.Name)) },
	schedule.DoOf:      reads(func(j int) int { return j }),
	schedule.DoRow:     reads(func(j int) int { return j }),
	schedule.DoColumn:  reads(func(int) int { return 0 }),
	schedule.DoHeadRow: reads(func(j int) int { return j % head }),
	schedule.DoCos:     reads(func(j int) int { return j % head % (head / 2) }),
	schedule.DoSin:     reads(func(j int) int { return head/2 + j%head%(head/2) }),
	schedule.DoPairCos: reads(func(j int) int { return j % head / 2 }),
	schedule.DoPairSin: reads(func(j int) int { return head/2 + j%head/2 }),
}

// reads is an operand's element at a place.
func reads(at func(j int) int) func(*device, schedule.Node, int) float32 {
	return func(d *device, n schedule.Node, j int) float32 { return d.operand(n.Tensor, at(j)) }
}

// binaries are of two elements.
var binaries = map[schedule.Do]func(a, b float32) float32{
	schedule.DoPlus:     func(a, b float32) float32 { return a + b },
	schedule.DoMinus:    func(a, b float32) float32 { return a - b },
	schedule.DoTimes:    func(a, b float32) float32 { return a * b },
	schedule.DoOver:     func(a, b float32) float32 { return a / b },
	schedule.DoGreatest: greatest,
	schedule.DoLeast:    func(a, b float32) float32 { return -greatest(-a, -b) },
}

// unaries are of one element. All numbers here are finite.
var unaries = map[schedule.Do]func(d *device, a float32) float32{
	schedule.DoNeg:  func(_ *device, a float32) float32 { return -a },
	schedule.DoAbs:  func(_ *device, a float32) float32 { return float32(math.Abs(float64(a))) },
	schedule.DoExp:  func(d *device, a float32) float32 { return max(d.off(math.Exp(float64(a))), 0) },
	schedule.DoTanh: func(d *device, a float32) float32 { return min(max(d.off(math.Tanh(float64(a))), -1), 1) },
	schedule.DoErf:  func(d *device, a float32) float32 { return min(max(d.off(math.Erf(float64(a))), -1), 1) },
	schedule.DoLog:  func(d *device, a float32) float32 { return d.off(math.Log(float64(a))) },
	schedule.DoRoot: func(_ *device, a float32) float32 { return float32(math.Sqrt(float64(a))) },
	schedule.DoRecipRoot: func(_ *device, a float32) float32 {
		return 1 / float32(math.Sqrt(float64(a)))
	},
	schedule.DoFinite: func(_ *device, a float32) float32 { return a },
	schedule.DoPower:  power,
	schedule.DoLoud:   power,
	schedule.DoUp: func(_ *device, a float32) float32 {
		least := float32(0x1p-9)
		for least < 448 && least < float32(math.Abs(float64(a))) {
			least += float32(math.Ldexp(1, max(math.Ilogb(float64(least))-3, -9)))
		}
		return least
	},
}

// power is the power of 2 at or above a number.
func power(_ *device, a float32) float32 {
	e := math.Ceil(math.Log2(math.Abs(float64(a))))
	return float32(math.Ldexp(1, int(min(max(e, -126), 126))))
}

// greatest is what devices have for the greatest of two numbers: b where one is NaN.
func greatest(a, b float32) float32 {
	if a > b {
		return a
	}
	return b
}

func statistic(do schedule.Do, v []float32) float32 {
	if do == schedule.DoMost {
		most := v[0]
		for _, x := range v {
			most = greatest(most, x)
		}
		return most
	}
	parts := make([]float32, 1<<bits.Len(uint(min((len(v)+7)/8, 512)-1)))
	for i, x := range v {
		parts[i/8%len(parts)] += x
	}
	for half := len(parts) / 2; half > 0; half /= 2 {
		for i := range half {
			parts[i] += parts[i+half]
		}
	}
	sum := parts[0]
	if do == schedule.DoMean {
		sum /= float32(len(v))
	}
	return sum
}

// TestDevices: fp32 in many orders lies within the interval, and a number 40 units off often does not.
func TestDevices(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, f := range functions {
		nodes, caught, of := tree(f), 0, 0
		for try := range 60 {
			size := math.Exp2(float64(try%20) - 8)
			values := map[string][]float32{}
			draw := func() (list []float32) {
				for range columns {
					list = append(list, float32(random.NormFloat64()*size))
				}
				return list
			}
			x := draw()
			values["A"], values["B"] = draw(), draw()
			d := &device{x: x, random: random,
				operand: func(tensor string, i int) float32 { return values[tensor][i] }}
			r := &formula.Row{Param: epsilon, Width: width,
				Operand: func(tensor string, i int) formula.Value { return formula.Point(float64(values[tensor][i])) }}
			for _, e := range x {
				r.X = append(r.X, formula.Point(float64(e)))
			}
			got := d.of(nodes)
			for j, v := range r.Of(nodes) {
				g := float64(got[j])
				if !(v.Lo <= g && g <= v.Hi) {
					t.Fatalf("%s of %g: %g is not in [%g, %g]", name, x[j], g, v.Lo, v.Hi)
				}
				if of++; g*(1+40*0x1p-23) > v.Hi && g > 0 || g < 0 && g*(1+40*0x1p-23) < v.Lo {
					caught++
				}
			}
		}
		if caught < of/5 {
			t.Errorf("%s: only %d of %d values 40 units off were caught", name, caught, of)
		}
	}
}

// TestDepth: sums of one large number and of small ones, all of which are rounded up, are in the interval and close to
// its end.
func TestDepth(t *testing.T) {
	for _, width := range []int{1, 8, 9, 24, 96, 1000, 4096, 4104, 8192, 16384, 20000} {
		v, row := make([]float32, width), &formula.Row{}
		units := (width + 7) / 8
		parts := 1 << bits.Len(uint(min(units, 512)-1))
		for i := range v {
			if unit := i / 8; unit%parts == 0 || i%8 == 0 && unit < parts && unit&(unit-1) == 0 {
				v[i] = 0x1.0001p-24
			}
		}
		v[0] = 1
		for _, x := range v {
			row.X = append(row.X, formula.Point(float64(x)))
		}
		got, in := float64(statistic(schedule.DoSum, v)), row.Of(schedule.Nodes(schedule.SumOver(schedule.X)))[0]
		if got < in.Lo || in.Hi < got || in.Hi-got > .1*(in.Hi-1)+0x1p-23 {
			t.Errorf("a sum of %d columns is %g, in [%g, %g]", width, got-1, in.Lo-1, in.Hi-1)
		}
	}
}

// An interval holds what its ends make, and all that lies between them.
func TestIntervals(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, f := range functions {
		nodes := tree(f)
		for try := range 40 {
			size := math.Exp2(float64(try%12) - 6)
			var lo, hi, x []float32
			for range columns {
				a := float32(random.NormFloat64() * size)
				b := a + float32(random.Float64()*size/64)
				lo, hi, x = append(lo, a), append(hi, b), append(x, a+(b-a)*random.Float32())
			}
			d := &device{x: x, random: random, operand: func(_ string, i int) float32 { return x[i] }}
			r := &formula.Row{Param: epsilon, Width: width}
			for j := range x {
				x[j] = min(max(x[j], lo[j]), hi[j])
				r.X = append(r.X, formula.Value{Want: float64(x[j]), Lo: float64(lo[j]), Hi: float64(hi[j])})
			}
			r.Operand = func(_ string, i int) formula.Value { return r.X[i] }
			got := d.of(nodes)
			for j, v := range r.Of(nodes) {
				if g := float64(got[j]); !(v.Lo <= g && g <= v.Hi) {
					t.Fatalf("%s of [%g, %g]: %g is not in [%g, %g]", name, lo[j], hi[j], g, v.Lo, v.Hi)
				}
			}
		}
	}
}

// TestPoints: what IEEE 754 rounds is one value, and so are a gate far from zero and a mean of integers.
func TestPoints(t *testing.T) {
	for name, x := range map[string][]float64{
		"relu": {-3, .1, 1e30}, "relu2": {-3, .1, 7}, "silu": {-256, -128, 0, 128, 256, 1024},
		"gelu": {-32, -16, 0, 16, 32}, "quickgelu": {-128, 0, 128}, "bias": {1, 2, 3}, "rotary": {1, 2.5},
	} {
		r := &formula.Row{Param: epsilon, Width: width, Operand: func(_ string, i int) formula.Value {
			return formula.Point(float64(i%5) + .1)
		}}
		for range head {
			for _, v := range x {
				r.X = append(r.X, formula.Point(float64(float32(v))))
			}
		}
		for j, v := range r.Of(tree(functions[name])) {
			if !v.IsPoint() {
				t.Errorf("%s of %g is in [%g, %g]", name, r.X[j].Want, v.Lo, v.Hi)
			}
		}
	}
	r := &formula.Row{}
	for i := range 1000 {
		r.X = append(r.X, formula.Point(float64(i-300)/4))
	}
	mean := schedule.Nodes(schedule.Mean(schedule.X))
	if v := r.Of(mean)[0]; !v.IsPoint() || v.Lo != float64(float32(49.875)) {
		t.Errorf("a mean of quarters is %v", v)
	}
	for _, x := range []formula.Value{formula.Point(0x1p-9), {Want: 1, Lo: .5, Hi: 1}} {
		r.X[7] = x
		if v := r.Of(mean)[0]; v.IsPoint() {
			t.Errorf("a sum of 25 digits, or of %v, is %v in any order", x, v)
		}
	}
	r.X = []formula.Value{{Want: 1, Lo: -1, Hi: 2}}
	if v := r.Of(schedule.Nodes(schedule.Times(schedule.X, schedule.X)))[0]; v.Lo != 0 || v.Hi != 4 {
		t.Errorf("the square of -1 to 2 is %v", v)
	}
}

// known are values of each function to ten digits: of 50 digits by mpmath, where a formula is not plain.
var known = map[string][][2]float64{
	"relu": {{-3, 0}, {-0.5, 0}, {0, 0}, {0.5, 0.5}, {3, 3}},
	"gelu": {{-3, -0.003637392082}, {-1, -0.1588080094}, {-0.5, -0.1542859902}, {0, 0}, {0.5, 0.3457140098},
		{1, 0.8411919906}, {3, 2.996362608}},
	"silu": {{-3, -0.1422776195}, {-1, -0.2689414214}, {-0.5, -0.1887703344}, {0, 0}, {0.5, 0.3112296656},
		{1, 0.7310585786}, {3, 2.857722380}},
	"geglu": {{-1, -0.1588080094}, {0, 0}, {3, 2.996362608}}, "swiglu": {{-1, -0.2689414214}, {0, 0}, {3, 2.857722380}},
	"relu2": {{-3, 0}, {.5, .25}, {3, 9}}, "softcap": {{-3, -2.284782468}, {1, 0.9645382146}, {30, 2.999999988}},
	"sigmoid":   {{-3, 0.04742587318}, {0, .5}, {1, 0.7310585786}},
	"quickgelu": {{-1, -0.1542042341}, {1, 0.8457957659}, {3, 2.981928690}},
	"gelubyerf": {{-1, -0.1586552539}, {1, 0.8413447461}, {3, 2.995950306}},
}

// TestKnown holds each function against known values; the constants of a formula are of fp32.
func TestKnown(t *testing.T) {
	for name, values := range known {
		for _, v := range values {
			r := &formula.Row{X: []formula.Value{formula.Point(v[0])}, Param: epsilon, Width: width,
				Operand: func(string, int) formula.Value { return formula.Point(1) }}
			if got := r.Of(tree(functions[name]))[0].Want; math.Abs(got-v[1]) > 3e-7*math.Abs(v[1]) {
				t.Errorf("%s(%g) is %.10g, want %.10g", name, v[0], got, v[1])
			}
		}
	}
}
