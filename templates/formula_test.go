package templates

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	s "ovgen/schedule"
	"ovgen/verify/sampling"
)

// width is how many columns the heads of all formulas here have.
func width(string) s.Extent { return "W" }

// fp32 are tensors of fp32.
func fp32(names ...string) map[string]driver.Type {
	types := map[string]driver.Type{}
	for _, name := range names {
		types[name] = driver.FP32
	}
	return types
}

// dequantised are elements of eight bits, with scales S.
var dequantised = map[string]driver.Type{"": driver.E4M3, "S": driver.FP32}

// norms, rotary embeddings and others, as a library has them.
var formulas = func() []Formula {
	norm, turned := s.RMSNorm("N").Tree(), s.Rotary("T").Tree()
	list := []Formula{
		{Trees: []s.Expr{s.X}, Types: fp32("")},
		{Trees: []s.Expr{s.X}, Result: driver.FP32},
		{Trees: []s.Expr{s.ReLU().Tree()}},
		{Trees: []s.Expr{s.Plus(s.X, s.Row("B")), s.Greatest(s.X, s.Num(0)), s.Plus(s.X, s.Of("R"))}},
		{Trees: []s.Expr{s.Plus(s.X, s.Of("R"))}, Types: fp32("R")},
		{Trees: []s.Expr{s.Plus(s.X, s.Of("R")), s.Times(s.X, s.Num(.22))}, Types: fp32(""), Result: driver.FP32},
		{Trees: []s.Expr{s.Times(s.X, s.Column("S")), s.Minus(s.X, s.Row("B"))}, Types: fp32("S")},
		{Trees: []s.Expr{norm, s.Add("R").Tree()}},
		{Trees: []s.Expr{s.Add("R").Tree(), norm}, Types: fp32("R", "N")},
		{Trees: []s.Expr{norm, s.Add("R").Tree()}, Then: []Formula{{Trees: []s.Expr{s.RMSNorm("B").Tree()}}}},
		{Trees: []s.Expr{s.Minus(s.X, s.Mean(s.X))}, Then: []Formula{{Trees: []s.Expr{norm}},
			{Trees: []s.Expr{s.Plus(s.Minus(s.X, s.Most(s.X)), s.Column("S"), s.Of("R"))}}}},
		{Trees: []s.Expr{norm, s.Add("R").Tree()}, Then: []Formula{{Trees: []s.Expr{s.RMSNorm("B").Tree(),
			s.Quantise().Tree()}, Result: driver.E4M3, Scales: driver.FP32}}},
		{Trees: []s.Expr{norm}, Then: []Formula{{Trees: []s.Expr{s.Minus(s.X, s.Most(s.X))}},
			{Trees: []s.Expr{s.Quantise().Tree()}, Result: driver.E4M3, Scales: driver.FP32}}},
		{Trees: []s.Expr{s.LayerNorm("N", "B").Tree()}},
		{Trees: []s.Expr{s.Times(s.Minus(s.X, s.Most(s.X)), s.Column("S"))}},
		{Trees: []s.Expr{s.SumOver(s.Times(s.X, s.Row("N")))}},
		{Trees: []s.Expr{turned}},
		{Trees: []s.Expr{s.Plus(s.X, s.Row("B")), turned}},
		{Trees: []s.Expr{s.Rotary("T").Interleaved().Tree()}},
		{Trees: []s.Expr{s.RMSNorm("Q").PerHead("W").Tree(), turned, s.Plus(s.X, s.Of("R"))}},
		{Trees: []s.Expr{s.Plus(s.Turned(s.Turned(s.Minus(s.X, s.Row("B")), "W"), "W"), s.X)}},
		{Trees: []s.Expr{s.RotaryOf(4, "H", "T").Tree()}},
		{Trees: []s.Expr{s.If(s.Below(3, "W"), s.Times(s.X, s.HeadRow("Q")), s.Neg(s.X))}},
		{Trees: []s.Expr{s.Greatest(s.Times(s.X, s.Num(0)), s.Num(0))}}, // zeros of both signs
		{Trees: []s.Expr{s.Quantise().Tree()}, Result: driver.E4M3, Scales: driver.FP32},
		{Trees: []s.Expr{s.Quantise().PerHead("W").Tree()}, Result: driver.E4M3, Scales: driver.FP32},
		{Trees: []s.Expr{norm, s.Quantise().Tree()}, Types: fp32("N"), Result: driver.E4M3, Scales: driver.FP32},
		{Trees: []s.Expr{s.QuantiseE5M2().Tree()}, Result: driver.E5M2, Scales: driver.FP32},
		{Trees: []s.Expr{s.Dequantise("S").Tree()}, Types: map[string]driver.Type{"": driver.E5M2, "S": driver.FP32}},
		{Trees: []s.Expr{s.QuantiseFP4().Tree()}, Result: driver.E2M1, Scales: driver.E4M3},
		{Trees: []s.Expr{s.Times(s.X, s.Of("R")), s.QuantiseFP4().Tree()}, Result: driver.E2M1, Scales: driver.E4M3},
		{Trees: []s.Expr{s.Dequantise("S").Tree()}, Types: map[string]driver.Type{"": driver.E2M1, "S": driver.E4M3}},
		{Trees: []s.Expr{s.QuantiseMXFP4().Tree()}, Result: driver.E2M1, Scales: driver.UE8M0},
		{Trees: []s.Expr{s.Quantise().Tree()}, Result: driver.E4M3, Scales: driver.UE8M0},
		{Trees: []s.Expr{s.Dequantise("S").Tree()}, Types: map[string]driver.Type{"": driver.E2M1, "S": driver.UE8M0}},
		{Trees: []s.Expr{s.Dequantise("S").Tree()}, Types: map[string]driver.Type{"": driver.E4M3, "S": driver.UE8M0}},
		{Trees: []s.Expr{s.Times(s.Dequantise("S").Tree(), s.Of("R"))},
			Types: map[string]driver.Type{"": driver.E2M1, "S": driver.E4M3}},
		{Trees: []s.Expr{s.Over(s.X, s.Column("S"))}, Result: driver.E4M3},
		{Trees: []s.Expr{s.Plus(s.X, s.Mean(s.X)), s.Over(s.X, s.Num(3))}, Result: driver.E4M3, Scales: driver.FP32},
		{Trees: []s.Expr{s.Dequantise("S").Tree()}, Types: dequantised},
		{Trees: []s.Expr{s.Dequantise("S").Tree(), norm}, Types: dequantised},
		{Trees: []s.Expr{s.Power(s.Finite(s.Times(s.X, s.Of("R"))))}, Result: driver.FP32},
		{Trees: []s.Expr{s.Power(s.X)}, Result: driver.FP32}, // of powers too
	}
	for i := range list {
		list[i].Width = width
	}
	return list
}()

// anyFormula is a tree without functions that a host and a GPU make otherwise.
func anyFormula(t *rapid.T) Formula {
	group := rapid.SampledFrom([]s.Extent{"", "W"}).Draw(t, "group")
	leaves := []s.Expr{s.X, s.X, s.Of("R"), s.Of("U"), s.Row("B"), s.Column("S"), s.Num(.1), s.Num(-3),
		s.Param("Least")}
	unary := []func(e s.Expr) s.Expr{s.Neg, s.Abs, s.Root, s.RecipRoot,
		func(e s.Expr) s.Expr { return s.Mean(e).InHeads(group) },
		func(e s.Expr) s.Expr { return s.SumOver(e).InHeads(group) },
		func(e s.Expr) s.Expr { return s.Most(e).InHeads(group) }}
	if group != "" {
		leaves = append(leaves, s.HeadRow("Q"), s.Cos("T"), s.Sin("T"))
		unary = append(unary, func(e s.Expr) s.Expr { return s.Turned(e, group) })
	}
	binary := []func(a, b s.Expr, more ...s.Expr) s.Expr{s.Plus, s.Minus, s.Times, s.Over, s.Greatest, s.Least}
	var tree func(depth int) s.Expr
	tree = func(depth int) s.Expr {
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case depth == 0 || kind == 0:
			return rapid.SampledFrom(leaves).Draw(t, "leaf")
		case kind <= 2:
			return unary[rapid.IntRange(0, len(unary)-1).Draw(t, "unary")](tree(depth - 1))
		}
		return binary[rapid.IntRange(0, len(binary)-1).Draw(t, "binary")](tree(depth-1), tree(depth-1))
	}
	f := Formula{Width: width, Types: map[string]driver.Type{}}
	if rapid.Bool().Draw(t, "widens") {
		f.Result = driver.FP32
	}
	for range rapid.IntRange(1, 2).Draw(t, "trees") {
		f.Trees = append(f.Trees, tree(rapid.IntRange(1, 5).Draw(t, "depth")))
	}
	for _, name := range []string{"", "R", "B", "S", "T"} {
		if rapid.IntRange(0, 3).Draw(t, "fp32") == 0 {
			f.Types[name] = driver.FP32
		}
	}
	return f
}

// drawn are formulas by chance.
func drawn(n int) (list []Formula) {
	for i := range n {
		list = append(list, rapid.Custom(anyFormula).Example(i))
	}
	return list
}

// ofFormulas is a device with a kernel of each formula, and these kernels.
func ofFormulas(t *testing.T, list []Formula, types ...driver.Type) (tested, []kernels.Kernel) {
	t.Helper()
	d := device()
	d.Table.Types, d.Formulas = types, map[string]*Code{}
	numbers, made := map[kernels.Kind]int{}, []kernels.Kernel{}
	for _, f := range list {
		k, code, err := f.Kernel()
		if err != nil {
			t.Fatal(err)
		}
		k.Made.Word = fmt.Sprint(len(made))
		numbers[k.Kind]++
		k.Number = numbers[k.Kind]
		made, d.Formulas[k.Made.Word] = append(made, k), code
	}
	d.Table.Kernels = made
	return d, made
}

// TestFormulas runs the kernels of formulas and compares each bit with what their nodes make in Go.
func TestFormulas(t *testing.T) {
	sampling.Test(t, 1, 4)
	n := 24
	if sampling.All() {
		n = 200
	}
	catalogs, _ := catalogFormulas(t)
	list := slices.Concat(formulas, drawn(n), catalogs)
	each := len(list)
	if os.Getenv(mutantObjects) != "" {
		each = 16 // where these show the mistake, the others need not be compiled
	}
	for from := 0; from < len(list) && !t.Failed(); from += each {
		d, made := ofFormulas(t, list[from:min(from+each, len(list))], driver.BF16, driver.FP32)
		var jobs []*job
		for i, k := range made {
			for _, typ := range d.Table.Types {
				for seed := range 12 {
					jobs = append(jobs, newJob(list[from+i], k, typ, uint32((from+i)*1000+seed)))
				}
			}
		}
		compareJobs(t, runJobs(t, d.checked(), jobs), 0)
	}
}

// TestInexact: of the functions that a host and a GPU make otherwise, each is within four units of the last place.
func TestInexact(t *testing.T) {
	_, list := catalogFormulas(t)
	for _, f := range []func(s.Expr) s.Expr{s.Exp, s.Tanh, s.Erf, s.Log} {
		list = append(list, Formula{Trees: []s.Expr{f(s.Times(s.X, s.Of("R")))}, Width: width})
	}
	d, made := ofFormulas(t, list, driver.FP32)
	var jobs []*job
	for i, k := range made {
		for seed := range 12 {
			jobs = append(jobs, newJob(list[i], k, driver.FP32, uint32(i*1000+seed)))
		}
	}
	compareJobs(t, runJobs(t, d.checked(), jobs), 4)
}

// TestRefusedFormulas: no kernel makes these.
func TestRefusedFormulas(t *testing.T) {
	for _, c := range []struct {
		of   s.Expr
		want string
	}{
		{s.Plus(s.Mean(s.X), s.Mean(s.X).InHeads("W")), "write mean(x) + mean(x, W): it is of rows and of heads"},
		{s.Plus(s.Turned(s.X, "W"), s.Expr{Do: s.DoPairs, Of: []s.Expr{s.X}, Group: "W"}),
			"write turn(x, W) + turnpairs(x, W): it turns columns in two ways"},
		{s.Plus(s.Mean(s.X).InHeads("64"), s.Mean(s.X).InHeads("W")),
			"write mean(x, 64) + mean(x, W): it is of heads of 64 and of W columns"},
		{s.Plus(s.Plus(s.Param("A"), s.Param("B"), s.Param("C")), s.Plus(s.Param("D"), s.Param("E"), s.Param("F")),
			s.Param("G"), s.Param("H")), "write A + B + C + (D + E + F) + G + H: it has 8 numbers and 0 widths of " +
			"heads, of which a kernel takes 7"},
	} {
		if _, _, err := (Formula{Trees: []s.Expr{c.of}, Width: width}).Kernel(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	rows, place := Formula{Trees: []s.Expr{s.Softmax().Tree()}}, Formula{Trees: []s.Expr{s.ReLU().Tree()}}
	for _, f := range []Formula{
		{Trees: rows.Trees, Then: []Formula{place}}, {Trees: place.Trees, Then: []Formula{rows}},
		{Trees: rows.Trees, Result: driver.FP32, Then: []Formula{rows}},
		{Trees: rows.Trees, Then: []Formula{{Trees: rows.Trees, Types: fp32("")}}},
	} {
		const want = "one is not of rows of the plan's type"
		if _, _, err := f.Kernel(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
