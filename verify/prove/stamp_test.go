package prove

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

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
