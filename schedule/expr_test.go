package schedule_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
)

// formulas has the tree of each function of the library, as a formula and as its nodes.
var formulas = []struct {
	f             schedule.Func
	text, formula string
	key           string
}{
	{schedule.Bias("B"), "bias(B)", "x + B[column]", "x; row #0; plus 0 1"},
	{schedule.Add("R"), "add(R)", "x + R", "x; of #0; plus 0 1"},
	{schedule.ReLU(), "relu", "greatest(x, 0)", "x; number 00000000; greatest 0 1"},
	{schedule.SiLU(), "silu", "x/(1 + exp(neg(x)))", "x; number 3f800000; neg 0; exp 2; plus 1 3; over 0 4"},
	{schedule.SwiGLU("U"), "swiglu(U)", "x/(1 + exp(neg(x)))*U",
		"x; number 3f800000; neg 0; exp 2; plus 1 3; over 0 4; of #0; times 5 6"},
	{schedule.GELU(), "gelu", "x/(1 + exp(-2*(0.7978846*(x + 0.044715*x*x*x))))",
		"x; number 3f800000; number c0000000; number 3f4c422a; number 3d372713; times 4 0; times 5 0; times 6 0; " +
			"plus 0 7; times 3 8; times 2 9; exp 10; plus 1 11; over 0 12"},
	{schedule.GeGLU("U"), "geglu(U)", "x/(1 + exp(-2*(0.7978846*(x + 0.044715*x*x*x))))*U",
		"x; number 3f800000; number c0000000; number 3f4c422a; number 3d372713; times 4 0; times 5 0; times 6 0; " +
			"plus 0 7; times 3 8; times 2 9; exp 10; plus 1 11; over 0 12; of #0; times 13 14"},
	{schedule.RMSNorm("W"), "rmsnorm(W)", "x*reciproot(mean(x*x) + Epsilon)*W[column]",
		"x; times 0 0; mean 1; parameter Epsilon; plus 2 3; reciproot 4; times 0 5; row #0; times 6 7"},
	{schedule.RMSNorm("W").WithEpsilon(.5), "rmsnorm(W, epsilon 0.5)", "x*reciproot(mean(x*x) + 0.5)*W[column]",
		"x; times 0 0; mean 1; number 3f000000; plus 2 3; reciproot 4; times 0 5; row #0; times 6 7"},
	{schedule.LayerNorm("W", "B"), "layernorm(W, B)",
		"(x - mean(x))*reciproot(mean((x - mean(x))*(x - mean(x))) + Epsilon)*W[column] + B[column]",
		"x; mean 0; minus 0 1; times 2 2; mean 3; parameter Epsilon; plus 4 5; reciproot 6; times 2 7; row #0; " +
			"times 8 9; row #1; plus 10 11"},
	{schedule.Rotary("T"), "rotary(T)", "x*cos(T) + turn(x)*sin(T)", "x; cos #0; times 0 1; turn 0; sin #0; " +
		"times 3 4; plus 2 5"},
	{schedule.Rounded(), "rounded", "x", "x"},
	{schedule.Scale(.25), "scale(x*0.25)", "x*0.25", "x; number 3e800000; times 0 1"},
	{schedule.SoftCap(30), "softcap(30*tanh(x/30))", "30*tanh(x/30)",
		"number 41f00000; x; over 1 0; tanh 2; times 0 3"},
	{schedule.Sigmoid(), "sigmoid(1/(1 + exp(neg(x))))", "1/(1 + exp(neg(x)))",
		"number 3f800000; x; neg 1; exp 2; plus 0 3; over 0 4"},
	{schedule.SquaredReLU(), "relu2(greatest(x, 0)*greatest(x, 0))", "greatest(x, 0)*greatest(x, 0)",
		"x; number 00000000; greatest 0 1; times 2 2"},
	{schedule.QuickGELU(), "quickgelu(x/(1 + exp(-1.702*x)))", "x/(1 + exp(-1.702*x))",
		"x; number 3f800000; number bfd9db23; times 2 0; exp 3; plus 1 4; over 0 5"},
	{schedule.GELUByErf(), "gelubyerf(0.5*x*(1 + erf(x*0.70710677)))", "0.5*x*(1 + erf(x*0.70710677))",
		"number 3f000000; x; times 0 1; number 3f800000; number 3f3504f3; times 1 4; erf 5; plus 3 6; times 2 7"},
	{schedule.ReGLU("U"), "reglu(greatest(x, 0)*U)", "greatest(x, 0)*U",
		"x; number 00000000; greatest 0 1; of #0; times 2 3"},
	{schedule.Multiply("U"), "multiply(x*U)", "x*U", "x; of #0; times 0 1"},
	{schedule.Modulate("B", "A"), "modulate(x*(1 + A[column]) + B[column])", "x*(1 + A[column]) + B[column]",
		"x; number 3f800000; row #0; plus 1 2; times 0 3; row #1; plus 4 5"},
	{schedule.Softmax(), "softmax(exp(x - most(x))/sum(exp(x - most(x))))", "exp(x - most(x))/sum(exp(x - most(x)))",
		"x; most 0; minus 0 1; exp 2; sum 3; over 3 4"},
	{schedule.RMSNorm("Q").PerHead("128"),
		"rmsnorm per head(x*reciproot(mean(x*x, 128) + Epsilon)*Q[column of a head])",
		"x*reciproot(mean(x*x, 128) + Epsilon)*Q[column of a head]",
		"x; times 0 0; mean 1 128; parameter Epsilon; plus 2 3; reciproot 4; times 0 5; headrow #0; times 6 7"},
	{schedule.RMSNorm("Q").PerHead("128").WithEpsilon(.5),
		"rmsnorm per head(x*reciproot(mean(x*x, 128) + 0.5)*Q[column of a head])",
		"x*reciproot(mean(x*x, 128) + 0.5)*Q[column of a head]",
		"x; times 0 0; mean 1 128; number 3f000000; plus 2 3; reciproot 4; times 0 5; headrow #0; times 6 7"},
	{schedule.Rotary("T").Interleaved(), "rotary interleaved(x*paircos(T) + turnpairs(x)*pairsin(T))",
		"x*paircos(T) + turnpairs(x)*pairsin(T)",
		"x; paircos #0; times 0 1; turnpairs 0; pairsin #0; times 3 4; plus 2 5"},
	{schedule.RotaryOf(32, "128", "T"), "rotary of some(below(32 of 128, x*cos(T) + turn(x)*sin(T), x))",
		"below(32 of 128, x*cos(T) + turn(x)*sin(T), x)",
		"x; cos #0; times 0 1; turn 0; sin #0; times 3 4; plus 2 5; below 6 0 32 128"},
	{schedule.Quantise(), "quantise", "x/power(most(abs(finite(x)))/448)",
		"x; finite 0; abs 1; most 2; number 43e00000; over 3 4; power 5; over 0 6"},
	{schedule.QuantiseE5M2(), "quantisee5m2", "x/power(most(abs(finite(x)))/57344)",
		"x; finite 0; abs 1; most 2; number 47600000; over 3 4; power 5; over 0 6"},
	{schedule.QuantiseFP4(), "quantisefp4", "x/up(most(abs(x))/6 + sum(0*x))",
		"x; abs 0; most 1; number 40c00000; over 2 3; number 00000000; times 5 0; sum 6; plus 4 7; up 8; over 0 9"},
	{schedule.QuantiseMXFP4(), "quantisemxfp4", "x/loudpower(most(abs(x))/6 + sum(0*x))",
		"x; abs 0; most 1; number 40c00000; over 2 3; number 00000000; times 5 0; sum 6; plus 4 7; loudpower 8; " +
			"over 0 9"},
	{schedule.Dequantise("S"), "dequantise(S)", "x*S[row]", "x; column #0; times 0 1"},
	{schedule.Func{Is: schedule.Plus(schedule.X, schedule.Column("S"))}, "(x + S[row])", "x + S[row]",
		"x; column #0; plus 0 1"},
}

// TestFormulas holds each function's text, formula and nodes.
func TestFormulas(t *testing.T) {
	for _, test := range formulas {
		if got := test.f.String(); got != test.text {
			t.Errorf("%s prints as %s", test.text, got)
		}
		if got := test.f.Tree().String(); got != test.formula {
			t.Errorf("%s is %s, want %s", test.text, got, test.formula)
		}
		if got := schedule.Key(schedule.Nodes(test.f.Tree())); got != test.key {
			t.Errorf("the nodes of %s are\n%s\nwant\n%s", test.text, got, test.key)
		}
	}
}

// TestFacts holds what a tree says of itself: its reach, its operands, its heads and its numbers.
func TestFacts(t *testing.T) {
	s := schedule.Schedule{Tensors: []schedule.Tensor{
		{Name: "T", Axes: []schedule.Axis{schedule.Dim(schedule.M), schedule.Dim("64")}},
		{Name: "Q", Axes: []schedule.Axis{schedule.Dim(schedule.W)}}}}
	for _, test := range []struct {
		f        schedule.Func
		reach    schedule.Reach
		operands []schedule.Operand
		heads    []schedule.Extent
		numbers  []string
	}{
		{f: schedule.SoftCap(30)},
		{f: schedule.LayerNorm("A", "A"), reach: schedule.InRow, numbers: []string{"Epsilon"},
			operands: []schedule.Operand{{"A", schedule.ByColumn}}},
		{f: schedule.RMSNorm("Q").PerHead(schedule.W), reach: schedule.InHead, heads: []schedule.Extent{"W"},
			operands: []schedule.Operand{{"Q", schedule.ByHead}}, numbers: []string{"Epsilon"}},
		{f: schedule.Rotary("T"), reach: schedule.InHead, operands: []schedule.Operand{{"T", schedule.OfTable}},
			heads: []schedule.Extent{"64"}},
		{f: schedule.Func{Is: schedule.Plus(schedule.X, schedule.Mean(schedule.Of("R")), schedule.Column("S"))},
			reach: schedule.InRow, operands: []schedule.Operand{{"R", schedule.InPlace}, {"S", schedule.ByRow}}},
		{f: schedule.Func{Is: schedule.Times(schedule.X, schedule.HeadRow("Q"))},
			operands: []schedule.Operand{{"Q", schedule.ByHead}}, heads: []schedule.Extent{"W"}},
	} {
		nodes := schedule.Nodes(s.Tree(test.f))
		if got := schedule.ReachOf(nodes); got != test.reach {
			t.Errorf("%s reaches %d, want %d", test.f, got, test.reach)
		}
		if diff := cmp.Diff(test.operands, test.f.Operands()); diff != "" && len(test.operands) > 0 {
			t.Errorf("operands of %s (-want +got):\n%s", test.f, diff)
		}
		if diff := cmp.Diff(test.heads, schedule.Heads(nodes)); diff != "" {
			t.Errorf("heads of %s (-want +got):\n%s", test.f, diff)
		}
		with := schedule.Schedule{Tensors: s.Tensors, Ops: []schedule.Op{schedule.Copy("C", "A", test.f)}}
		if with.HasEpsilon() != (test.numbers != nil) {
			t.Errorf("the Shape of %s has an epsilon: %t", test.f, with.HasEpsilon())
		}
		if with.Ops[0].Then[0] = test.f.WithEpsilon(1e-6); test.numbers != nil && with.HasEpsilon() {
			t.Errorf("the Shape of %s has an epsilon beside the formula's own", test.f)
		}
		if diff := cmp.Diff(test.numbers, schedule.Params(schedule.Nodes(test.f.Tree()))); diff != "" {
			t.Errorf("numbers of %s (-want +got):\n%s", test.f, diff)
		}
	}
}

// TestKeys holds that trees have one key where they do the same, and only there.
func TestKeys(t *testing.T) {
	x, of, num := schedule.X, schedule.Of, schedule.Num
	same := func(a, b schedule.Expr) bool {
		return schedule.Key(schedule.Nodes(a)) == schedule.Key(schedule.Nodes(b))
	}
	for _, pair := range [][2]schedule.Expr{
		{schedule.Plus(x, of("A")), schedule.Plus(x, of("B"))},
		{num(.1), num(float64(float32(.1)))},
		{schedule.Minus(x, of("A"), num(1)), schedule.Minus(schedule.Minus(x, of("A")), num(1))},
	} {
		if !same(pair[0], pair[1]) {
			t.Errorf("%s and %s have two keys", pair[0], pair[1])
		}
	}
	different := []schedule.Expr{x, of("A"), schedule.Row("A"), schedule.Column("A"), num(0), num(1),
		schedule.Param("P"), schedule.Plus(x, of("A")), schedule.Plus(of("A"), x), schedule.Minus(x, of("A")),
		schedule.Plus(of("A"), of("A")), schedule.Plus(of("A"), of("B")), schedule.Mean(x),
		schedule.Mean(x).InHeads("8"),
		schedule.Mean(x).InHeads("16"), schedule.SumOver(x), schedule.Turned(x, "8"), schedule.Times(x, of("A")),
		schedule.If(schedule.Below(2, "8"), x, num(0)), schedule.If(schedule.Below(4, "8"), x, num(0)),
		schedule.If(schedule.Below(4, "16"), x, num(0)), schedule.If(schedule.Below(4, "16"), num(0), x),
		schedule.Minus(x, schedule.Minus(of("A"), num(1))), schedule.Minus(schedule.Minus(x, of("A")), num(1))}
	for i, a := range different {
		for _, b := range different[:i] {
			if same(a, b) || a.String() == b.String() {
				t.Errorf("%s and %s have one key or one text", a, b)
			}
		}
	}
}

// A list of functions is written out as one tree: each is of the one before.
func TestNodesOfSeveral(t *testing.T) {
	norm, add := schedule.RMSNorm("W").Tree(), schedule.Add("R").Tree()
	got := schedule.Key(schedule.Nodes(norm, schedule.Scale(2).Tree(), add))
	want := "x; times 0 0; mean 1; parameter Epsilon; plus 2 3; reciproot 4; times 0 5; row #0; times 6 7; " +
		"number 40000000; times 8 9; of #1; plus 10 11"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := schedule.Key(schedule.Nodes(norm, schedule.Num(1))); got != "number 3f800000" {
		t.Errorf("a constant of a norm is %s", got)
	}
	doubled := schedule.X
	var trees []schedule.Expr
	for range 50 { // 2^50 nodes, were they not shared
		trees = append(trees, schedule.Plus(doubled, doubled))
	}
	if got := len(schedule.Nodes(trees...)); got != 51 {
		t.Errorf("50 sums of X and X have %d nodes", got)
	}
}

// TestFuncJSON reads functions as files have them, those by name among them.
func TestFuncJSON(t *testing.T) {
	const scaled = `{"Word":"scale","Is":{"Do":"times","Of":[{},{"Do":"number","Number":2}]}}`
	for text, want := range map[string]schedule.Func{
		scaled:                        schedule.Scale(2),
		`{"Do":"rmsnorm","In":["w"]}`: schedule.RMSNorm("w"),
		`{"Do":"rmsnorm","In":["w"],"Epsilon":0.5}`: schedule.RMSNorm("w").WithEpsilon(.5),
		`{"Do":"gelu","In":null,"Epsilon":0}`:       schedule.GELU(),
		`{"Do":"tofp32"}`:                           schedule.Rounded(),
	} {
		var got schedule.Func
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		`{"Do":"sine"}`:                    `unknown function "sine"`,
		`{"Do":"layernorm","In":["W"]}`:    "tensors of layernorm: want 2, got 1",
		`{"Word":"scale","Is":{"Of":"x"}}`: "cannot unmarshal",
	} {
		if err := json.Unmarshal([]byte(text), &schedule.Func{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, test := range formulas {
		var got schedule.Func
		b, err := json.Marshal(test.f)
		if err == nil {
			err = json.Unmarshal(b, &got)
		}
		if diff := cmp.Diff(test.f, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", b, err, diff)
		}
	}
}
