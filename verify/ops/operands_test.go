package ops_test

import (
	"reflect"
	"testing"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// listed is an operation that reads so many buffers, named by their place, and writes some.
func listed(o ops.Op, reads int, writes ...string) ops.Op {
	for i := range reads {
		o.Uses = append(o.Uses, ops.Use{At: ops.Loc{Buffer: string(rune('0' + i))}, Bytes: 4})
	}
	for _, name := range writes {
		o.Uses = append(o.Uses, ops.Use{Write: true, At: ops.Loc{Buffer: name}, Bytes: 4})
	}
	return o
}

func TestFactors(t *testing.T) {
	for _, c := range []struct {
		op    ops.Op
		reads int
		want  ops.Factors[int]
		wrong bool
	}{
		{op: ops.Op{}, reads: 2, want: ops.Factors[int]{A: 1, B: 2}},
		{op: ops.Op{}, reads: 3, want: ops.Factors[int]{A: 1, B: 2, Bias: 3}},
		{op: ops.Op{Accumulate: true}, reads: 3, want: ops.Factors[int]{A: 1, B: 2, Before: 3}},
		{op: ops.Op{Accumulate: true}, reads: 4, want: ops.Factors[int]{A: 1, B: 2, Bias: 3, Before: 4}},
		{op: ops.Op{Scales: 1}, reads: 3, want: ops.Factors[int]{A: 1, B: 2, ScaleB: 3}},
		{op: ops.Op{Scales: 2, Accumulate: true}, reads: 6,
			want: ops.Factors[int]{A: 1, B: 2, ScaleA: 3, ScaleB: 4, Bias: 5, Before: 6}},
		{op: ops.Op{}, reads: 1, wrong: true},
		{op: ops.Op{}, reads: 4, wrong: true},
		{op: ops.Op{Accumulate: true}, reads: 2, wrong: true},
		{op: ops.Op{Scales: 2}, reads: 3, wrong: true},
	} {
		c.op.Kind = ops.Product
		o := listed(c.op, c.reads, "C")
		var places []int
		for i := range c.reads {
			places = append(places, i+1)
		}
		got, ok := ops.FactorsOf(&o, places)
		if got != c.want || ok == c.wrong {
			t.Errorf("%s: %+v, %t", &o, got, ok)
		}
		f := o.Factors()
		if c.wrong != (f == ops.Factors[*ops.Use]{}) || !c.wrong && (f.A != &o.Uses[0] || f.B != &o.Uses[1]) {
			t.Errorf("%s: %+v", &o, f)
		}
	}
	if c := listed(ops.Op{Kind: ops.Sum}, 2, "C"); c.Factors() != (ops.Factors[*ops.Use]{}) {
		t.Error("a sum has factors")
	}
}

// Operands lie as formulas say, and results do not.
func TestOperands(t *testing.T) {
	o := listed(ops.Op{Kind: ops.Apply, Lies: []schedule.Lies{schedule.ByColumn}, LeavesScales: true}, 2, "C", "S")
	var lies []schedule.Lies
	var scales []bool
	for i := range o.Uses {
		lies, scales = append(lies, o.LiesOf(i)), append(scales, o.LeftScales(i))
	}
	want := []schedule.Lies{schedule.InPlace, schedule.ByColumn, schedule.InPlace, schedule.InPlace}
	if !reflect.DeepEqual(lies, want) || !reflect.DeepEqual(scales, []bool{false, false, false, true}) {
		t.Errorf("%v, %v", lies, scales)
	}
	beside := o.Beside()
	if o.Source().At.Buffer != "0" || o.Result().At.Buffer != "C" || len(beside) != 1 || beside[0].At.Buffer != "1" {
		t.Errorf("%s: %s, %s, %v", &o, o.Source(), o.Result(), beside)
	}
	if take := listed(ops.Op{Kind: ops.Take}, 0, "C"); take.Source().Bytes != 0 || len(take.Beside()) != 0 {
		t.Error("a take has a source")
	}
	if post := (ops.Op{Kind: ops.Signal}); post.Result().Bytes != 0 {
		t.Error("a signal has a result")
	}
}

func TestShape(t *testing.T) {
	o := ops.Op{Kind: ops.Product, Scales: 1, Uses: []ops.Use{{Bytes: 2 * 3 * 20}, {Bytes: 20 * 7}, {Bytes: 28},
		{Write: true, Bytes: 2 * 3 * 7}}}
	if m, k, n := o.Shape(16); m != 3 || k != 20 || n != 7 {
		t.Errorf("%s: %v x %v x %v", &o, m, k, n)
	}
	o.Uses[1].Bytes = 0
	if m, k, n := o.Shape(16); m+k+n != 0 {
		t.Errorf("%s: %v x %v x %v", &o, m, k, n)
	}
}

// While a product is listed its matrices and their scales are known by name.
func TestNext(t *testing.T) {
	is := ops.Factors[bool]{}
	for _, c := range []struct {
		op    ops.Op
		reads int
		want  func(f *ops.Factors[bool]) *bool
	}{
		{ops.Op{}, 1, func(f *ops.Factors[bool]) *bool { return &f.B }},
		{ops.Op{Scales: 1}, 2, func(f *ops.Factors[bool]) *bool { return &f.ScaleB }},
		{ops.Op{Scales: 2}, 2, func(f *ops.Factors[bool]) *bool { return &f.ScaleA }},
		{ops.Op{}, 2, nil},
		{ops.Op{Scales: 1}, 3, nil},
	} {
		c.op.Kind = ops.Product
		o, want := listed(c.op, c.reads), is
		if c.want != nil {
			*c.want(&want) = true
		}
		if got := o.Next(); got != want {
			t.Errorf("%s: %+v", &o, got)
		}
	}
}

// A gather is copies, each from the operand that is listed before its result.
func TestCopies(t *testing.T) {
	o := listed(ops.Op{Kind: ops.Copy}, 1, "C")
	o.Uses = append(o.Uses, listed(ops.Op{}, 1, "D").Uses...)
	list := o.Copies()
	if len(list) != 2 || list[0].Result().At.Buffer != "C" || list[1].Result().At.Buffer != "D" ||
		list[1].Source().At.Buffer != "0" {
		t.Errorf("got %v", list)
	}
}
