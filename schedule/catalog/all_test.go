package catalog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
)

// All lists each exported variable of the package's files once, by its own name.
func TestAll(t *testing.T) {
	values := listed(t)
	names := []string{}
	for i, n := range catalog.All() {
		names = append(names, n.Name)
		if values[i] != n.Name {
			t.Errorf("All names %s %q", values[i], n.Name)
		}
		if len(n.Schedule.Ops) == 0 {
			t.Errorf("%s has no operation", n.Name)
		}
	}
	for _, v := range exported(t) {
		if n := len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != v })); n != 1 {
			t.Errorf("All lists %s %d times (add it to all.go once)", v, n)
		}
	}
	if len(names) != len(exported(t)) {
		t.Errorf("All lists %d schedules, the package declares %d", len(names), len(exported(t)))
	}
}

// An alias declares nothing of its own, and its schedule is what the gradient's placements ask for.
func TestAliases(t *testing.T) {
	schedules := map[string]schedule.Schedule{}
	for _, n := range catalog.All() {
		schedules[n.Name] = n.Schedule
	}
	const m, k, n, d = schedule.M, schedule.K, schedule.N, schedule.D
	matmul := func(a, b, c []schedule.Axis) schedule.Schedule {
		return schedule.Schedule{
			Tensors: []schedule.Tensor{{Name: "A", Axes: a}, {Name: "B", Axes: b}, {Name: "C", Axes: c}},
			Ops:     []schedule.Op{schedule.Matmul("C", "A", "B")},
		}
	}
	dim, rank := schedule.Dim, schedule.DIDx(d)
	want := map[string]schedule.Schedule{
		"ColumnInputGradient": matmul([]schedule.Axis{dim(m), dim(k, rank)}, []schedule.Axis{dim(k, rank), dim(n)},
			[]schedule.Axis{dim(m, rank), dim(n)}),
		"RowInputGradient": matmul([]schedule.Axis{dim(m, rank), dim(k)}, []schedule.Axis{dim(k), dim(n)},
			[]schedule.Axis{dim(m, schedule.Stream(d)), dim(n)}),
	}
	aliases := catalog.Aliases()
	if len(aliases) != len(want) {
		t.Errorf("%d aliases, want %d", len(aliases), len(want))
	}
	for _, a := range aliases {
		if _, declared := schedules[a.Name]; declared {
			t.Errorf("%s has a schedule of its own", a.Name)
		}
		if diff := cmp.Diff(want[a.Name], schedules[a.Of]); diff != "" {
			t.Errorf("%s is not %s (-wanted +schedule):\n%s", a.Name, a.Of, diff)
		}
	}
}

// exported are the exported variables that the package declares.
func exported(t *testing.T) []string {
	var names []string
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		for _, d := range parsed(t, e.Name()).Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, id := range s.(*ast.ValueSpec).Names {
					if id.IsExported() {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}

// listed are the variables that All takes its schedules from, in its order.
func listed(t *testing.T) []string {
	var names []string
	ast.Inspect(parsed(t, "all.go"), func(n ast.Node) bool {
		pair, ok := n.(*ast.CompositeLit)
		if !ok || len(pair.Elts) != 2 {
			return true
		}
		if _, ok := pair.Elts[0].(*ast.BasicLit); !ok {
			return true
		}
		if id, ok := pair.Elts[1].(*ast.Ident); ok {
			names = append(names, id.Name)
		}
		return true
	})
	return names
}

func parsed(t *testing.T, file string) *ast.File {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
