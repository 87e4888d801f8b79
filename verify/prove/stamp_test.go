package prove

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/ops"
)

// A stamp differs with the operations of any rank, and with the model: of two programs alike but in one operation, one
// stamp does not say that both are proven.
func TestStamp(t *testing.T) {
	program, err := lower.Lower("AllReducePackets", catalog.AllReducePackets)
	if err != nil {
		t.Fatal(err)
	}
	of := func(edit func(*Model, [][]ops.Op)) string {
		m, lists, err := Unroll(program, 3)
		if err != nil {
			t.Fatal(err)
		}
		edit(&m, lists)
		s := newStamp()
		s.add(m, lists)
		return s.sum()
	}
	last := func(lists [][]ops.Op) *ops.Op { return &lists[2][len(lists[2])-2] }
	seen := map[string]string{}
	for name, edit := range map[string]func(*Model, [][]ops.Op){
		"as it is":                  func(*Model, [][]ops.Op) {},
		"no operation on rank 2":    func(_ *Model, l [][]ops.Op) { l[2] = slices.Delete(l[2], 1, 2) },
		"two operations in turn":    func(_ *Model, l [][]ops.Op) { l[0][1], l[0][2] = l[0][2], l[0][1] },
		"another step":              func(_ *Model, l [][]ops.Op) { l[2][3].Words[1].Value++ },
		"another place":             func(_ *Model, l [][]ops.Op) { last(l).Uses[0].At.Offset++ },
		"another size":              func(_ *Model, l [][]ops.Op) { last(l).Uses[0].Bytes++ },
		"another kernel":            func(_ *Model, l [][]ops.Op) { last(l).Kernel += "2" },
		"the operations by a rank":  func(_ *Model, l [][]ops.Op) { l[0], l[1] = l[1], l[0] },
		"one half":                  func(m *Model, _ [][]ops.Op) { m.Halves["landed"] = 1 },
		"plain data":                func(m *Model, _ [][]ops.Op) { m.Lands["landed"] = Landing{Flags: "arrived"} },
		"a buffer that is not used": func(m *Model, _ [][]ops.Op) { m.Buffers = append(m.Buffers, Buffer{Name: "X"}) },
	} {
		sum := of(edit)
		if other, known := seen[sum]; known {
			t.Errorf("%s has the stamp of %s", name, other)
		}
		seen[sum] = name
	}
}

// A stamp says which properties were checked: all that a counterexample can name, as they are declared.
func TestStampHasEveryProperty(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "counterexample.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Property
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Property" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, Property(text))
		}
		return true
	})
	if len(declared) == 0 || !slices.Equal(declared, properties) {
		t.Errorf("a stamp has\n%q\nand declared are\n%q", properties, declared)
	}
}
