package literal_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/cmd/ovgen/internal/literal"
	"ovgen/schedule"
)

// TestMain finds the standard library's sources, of which a binary built with -trimpath knows nothing.
func TestMain(m *testing.M) {
	if build.Default.GOROOT == "" {
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			fmt.Fprintln(os.Stderr, "go env GOROOT:", err)
			os.Exit(1)
		}
		build.Default.GOROOT = strings.TrimSpace(string(out))
	}
	os.Exit(m.Run())
}

const text = `package schedules

import s "ovgen/schedule"

var Layer = s.Schedule{
	Ops:     []s.Op{s.Linear("C", a, "B", s.Bias("Bias"), s.Func{Word: "ge" + "lu"}), {Out: "D", In: names()}},
	Tensors: []s.Tensor{{"A", []s.Axis{s.Dim(s.M, s.DIDx(s.D)), {Extent: extent()}}, "", false}, shared},
	Moves:   []s.Move{{Of: a, Way: s.Pull{Parts: 1 << 3, Streams: parts(), By: changed}}, {Of: "C", Way: way()},
		{Way: slots}},
}

const a = "A" + ""

var (
	shared  = s.Tensor{Name: "B", Root: true, Axes: axes}
	axes    = []s.Axis{s.Dim("128", s.Stream(s.D), split())}
	changed = s.CopyEngine
	slots   = s.Slots{Equal: true}
	Loop    = Other
	Other   = Loop
)

func split() s.Split   { return s.Split{} }
func parts() int       { return 2 }
func way() s.Way       { return s.Shot{} }
func names() []string  { return nil }
func extent() s.Extent { return s.K }
func init()            { changed = "" }

func own(weight string) s.Func { return s.Func{Word: "own", Is: s.Times(twice(weight), s.Param("half"))} }
func twice(w string) s.Expr    { return s.Plus(s.X, s.Row(w), s.Row("V")) }

var Formulas = s.Schedule{Ops: []s.Op{s.Copy("Y", "A", s.Func{Is: s.Over(
	s.Plus(s.X,
		s.Of("R"), s.Num(1e60)),
	s.Neg(s.Mean(s.X).InHeads("3")))},
	own("T"), s.Scale(1e50), s.RotaryOf(7, "9", "Table"), s.RMSNorm("Norm").PerHead(s.W))}}

var Chain = s.Schedule{Ops: []s.Op{
	s.Copy("Y", a, s.LayerNorm("W", "V").WithEpsilon(1e-6), s.SiLU()).Keeping("X", 0).Keeping("H", 1)}}
`

// source is the text with its types, and the values of its variables.
func source(t *testing.T) (*literal.Source, map[string]ast.Expr, *token.FileSet) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "schedules.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}}
	c := types.Config{Importer: importer.ForCompiler(set, "source", nil), Error: func(error) {}} // the loop is one
	if _, err := c.Check("schedules", set, []*ast.File{f}, info); err == nil {
		t.Fatal("the loop is no mistake")
	}
	values := map[string]ast.Expr{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			values[v.Names[0].Name] = v.Values[0]
		}
		return true
	})
	return literal.New(info, []*ast.File{f}), values, set
}

func TestValue(t *testing.T) {
	s, values, _ := source(t)
	got, unknown := s.Value(values["Layer"])
	want := schedule.Schedule{
		Ops: []schedule.Op{schedule.Linear("C", "A", "B", schedule.Bias("Bias"), schedule.Func{Word: "gelu"}),
			{Out: "D"}},
		Tensors: []schedule.Tensor{
			{Name: "A", Axes: []schedule.Axis{schedule.Dim("M", schedule.DIDx("D")), {}}},
			{Name: "B", Root: true, Axes: []schedule.Axis{schedule.Dim("128", schedule.Stream("D"), schedule.Split{})}},
		},
		Moves: []schedule.Move{{Of: "A", Way: schedule.Pull{Parts: 8}}, {Of: "C"}, {Way: schedule.Slots{Equal: true}}},
	}
	want.Tensors[0].Axes[0].Outer = []schedule.Split{schedule.DIDx("D")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	chain := schedule.Schedule{
		Ops: []schedule.Op{schedule.Copy("Y", "A", schedule.LayerNorm("W", "V").WithEpsilon(1e-6), schedule.SiLU()).
			Keeping("X", 0).Keeping("H", 1)}}
	if got, _ := s.Value(values["Chain"]); !cmp.Equal(chain, got) {
		t.Errorf("value (-want +got):\n%s", cmp.Diff(chain, got))
	}
	var formulas schedule.Schedule
	formulas.Ops = []schedule.Op{schedule.Copy("Y", "A",
		schedule.Func{Is: schedule.Over(
			schedule.Plus(schedule.X, schedule.Of("R"), schedule.Num(1e60)),
			schedule.Neg(schedule.Mean(schedule.X).InHeads("3")))},
		schedule.Func{}, schedule.Scale(1e50), schedule.RotaryOf(7, "9", "Table"), schedule.Func{})}
	got, unknown2 := s.Value(values["Formulas"])
	if !cmp.Equal(formulas, got) || !slices.Equal(unknown2, []string{"Ops[0].Then[1]", "Ops[0].Then[4]"}) {
		t.Errorf("unknown %v, value (-want +got):\n%s", unknown2, cmp.Diff(formulas, got))
	}
	wantUnknown := []string{"Ops[1].In", "Tensors[0].Axes[1].Extent", "Tensors[1].Axes[0].Outer[1]",
		"Moves[0].Way.Streams", "Moves[0].Way.By", "Moves[1].Way"}
	if diff := cmp.Diff(wantUnknown, unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	s, values, set := source(t)
	for path, want := range map[string]struct {
		line, column    int
		whole, computed bool
	}{
		"Ops":                               {6, 2, true, false},
		"Ops[0].Out":                        {6, 27, true, false},
		"Ops[0].In[1]":                      {6, 35, true, false},
		"Ops[0].Then[0].Is.Of[1].Tensor":    {6, 47, true, false},
		"Ops[0].Then[1].Word":               {6, 63, true, false},
		"Ops[1].Out":                        {6, 85, true, false},
		"Types":                             {0, 0, false, false},
		"Tensors":                           {7, 2, true, false},
		"Tensors[0].Axes[0].Outer[0].Count": {7, 55, true, false},
		"Tensors[0].Axes[1].Extent":         {7, 63, true, false},
		"Tensors[1].Root":                   {15, 32, true, false},
		"Tensors[1].Axes[0].Extent":         {16, 27, true, false},
		"Tensors[1].Axes[0].Outer[1].Shift": {16, 49, false, true},
		"Tensors[4].Name":                   {7, 2, false, false},
		"Moves[0].Way.Parts":                {8, 40, true, false},
		"Moves[0].Way.WithStep":             {8, 28, false, false},
		"Moves[1].Way.Signals":              {8, 98, false, true},
		"Moves[2].Way.Equal":                {18, 20, true, false},
	} {
		p := s.Find(values["Layer"], path)
		var at token.Position
		if p.At != nil {
			at = set.Position(p.At.Pos())
		}
		if at.Line != want.line || at.Column != want.column || p.Whole != want.whole || p.Computed != want.computed {
			t.Errorf("%s: %d:%d %+v, want %+v", path, at.Line, at.Column, p, want)
		}
	}
	for path, want := range map[string]string{"Ops[0].Then[0].Epsilon": "1e-6", "Ops[0].Then[0].Is.Of[1].Tensor": `"V"`,
		"Ops[0].Out": `"Y"`, "Ops[0].Also[0].After": "0", "Ops[0].Also[1].Out": `"H"`} {
		p := s.Find(values["Chain"], path)
		at := p.At
		if kv, ok := at.(*ast.KeyValueExpr); ok && kv.Pos() == kv.Value.Pos() {
			at = kv.Value
		}
		if got, ok := at.(*ast.BasicLit); !ok || got.Value != want || !p.Whole {
			t.Errorf("%s: %+v, want %s", path, p, want)
		}
	}
}

// TestFindFormulas finds the parts of formulas by the text that is written there.
func TestFindFormulas(t *testing.T) {
	s, values, set := source(t)
	for path, want := range map[string]string{
		"Then[0].Is":                   `Is: s.Over(`,
		"Then[0].Is.Of":                `s.Over(`,
		"Then[0].Is.Of[0].Of[0].Of[1]": `s.Of("R")`, "Then[0].Is.Of[0].Of[0].Of[1].Tensor": `"R")`,
		"Then[0].Is.Of[0].Of[1].Number": `1e60`, "Then[0].Is.Of[1].Of[0].Group": `"3")`,
		"Then[1].Is.Of[0].Of[0].Of[1].Tensor": `"T")`, "Then[1].Is.Of[0].Of[1].Tensor": `"V")`,
		"Then[1].Is.Of[1].Name": `"half")`, "Then[1].Word": `Word: "own"`,
		"Then[2].Is.Of[1].Number": `1e50`, "Then[3].Is.Number": `7, "9"`, "Then[3].Is.Group": `"9",`,
		"Then[3].Is.Of[0].Of[1].Of[1].Tensor": `"Table"`, "Then[4].Is.Of[1].Tensor": `"Norm"`,
	} {
		p := s.Find(values["Formulas"], "Ops[0]."+path)
		if p.At == nil || !p.Whole {
			t.Errorf("%s: %+v", path, p)
		} else if at := set.Position(p.At.Pos()); !strings.HasPrefix(text[at.Offset:], want) {
			t.Errorf("%s: %v is %.20s, want %s", path, at, text[at.Offset:], want)
		}
	}
}

// Variables that are set to each other are a mistake of the package's, not a hang.
func TestLoop(t *testing.T) {
	s, values, _ := source(t)
	if _, unknown := s.Value(values["Loop"]); len(unknown) == 0 {
		t.Error("a loop has a value")
	}
	if p := s.Find(values["Loop"], "Ops"); p.At != nil {
		t.Errorf("a loop has a field: %+v", p)
	}
}

// TestMade: all functions of package schedule that make a part of a formula are read.
func TestMade(t *testing.T) {
	p, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import(literal.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range p.Scope().Names() {
		f, ok := p.Scope().Lookup(name).(*types.Func)
		if !ok || !f.Exported() || f.Signature().Results().Len() != 1 {
			continue
		}
		switch made := types.TypeString(f.Signature().Results().At(0).Type(), types.RelativeTo(p)); made {
		case "Expr", "Columns":
			if !literal.Makes(name) {
				t.Errorf("%s makes %s, and is not read", name, made)
			}
		}
	}
}

// Every constructor of the library is a function of package schedule, and every operand is an argument.
func TestFunctions(t *testing.T) {
	p, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import(literal.Path)
	if err != nil {
		t.Fatal(err)
	}
	made := p.Scope().Lookup("Func").Type()
	for _, c := range schedule.Library() {
		f, ok := p.Scope().Lookup(c.Name).(*types.Func)
		if !ok || f.Signature().Params().Len() != c.Operands || f.Signature().Results().Len() != 1 ||
			!types.Identical(f.Signature().Results().At(0).Type(), made) {
			t.Errorf("no function of package schedule is %s of %d operands: %v", c.Name, c.Operands, f)
			continue
		}
		for v := range f.Signature().Params().Variables() {
			if !types.Identical(v.Type(), types.Typ[types.String]) {
				t.Errorf("%s is no operand of %s", v, c.Name)
			}
		}
	}
}
