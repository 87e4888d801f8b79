package schedule_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
)

// TestLibrary holds what texts, packages and files take of each function of the library: it is one of the package, and
// known again by its name or its tree, as no other one is. A function that is added needs no line here.
func TestLibrary(t *testing.T) {
	declared := constructors(t)
	keys := map[string]string{}
	for _, c := range schedule.Library() {
		var in []string
		for i := range c.Operands {
			in = append(in, fmt.Sprintf("T%d", i))
		}
		f := c.Of(in...)
		if n, is := declared[c.Name]; !is || n != c.Operands {
			t.Errorf("the package has no constructor %s of %d tensors that says what it makes", c.Name, c.Operands)
		}
		if f.Word != c.Word() {
			t.Errorf("%s makes %s", c.Name, f.Word)
		}
		if got := f.Reads(); !slices.Equal(got, in) {
			t.Errorf("%s reads %v of %v", c.Name, got, in)
		}
		text := strings.TrimSuffix(c.Word()+"("+strings.Join(in, ", ")+")", "()")
		if f.String() != text {
			t.Errorf("%s prints as %s", text, f)
		}
		if again, of, ok := f.Constructor(); !ok || again.Name != c.Name || !slices.Equal(of, in) {
			t.Errorf("%s is known as %s of %v", text, again.Name, of)
		}
		if word, more := f.Tree().InLibrary(); word != c.Word() || len(more) > 0 {
			t.Errorf("the tree of %s is known as %s %v", text, word, more)
		}
		key := schedule.Key(schedule.Nodes(f.Tree()))
		if other := keys[key]; other != "" {
			t.Errorf("%s and %s are one function", other, c.Name)
		}
		keys[key] = c.Name
		short := fmt.Sprintf(`{"Do":%q,"In":["%s"]}`, c.Word(), strings.Join(in, `","`))
		for _, text := range []string{short, asJSON(t, f)} {
			var got schedule.Func
			if err := json.Unmarshal([]byte(strings.Replace(text, `[""]`, "null", 1)), &got); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if diff := cmp.Diff(f, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		}
	}
}

// asJSON is a function as files have it.
func asJSON(t *testing.T, f schedule.Func) string {
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// constructors are the exported functions of the package that make a Func of tensors alone and have a comment, with how
// many tensors that are.
func constructors(t *testing.T) map[string]int {
	found := map[string]int{}
	file, err := parser.ParseFile(token.NewFileSet(), "library.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Recv != nil || !f.Name.IsExported() || f.Doc == nil || f.Type.Results == nil {
			continue
		}
		if made, is := f.Type.Results.List[0].Type.(*ast.Ident); !is || made.Name != "Func" {
			continue
		}
		tensors, others := 0, 0
		for _, p := range f.Type.Params.List {
			if of, is := p.Type.(*ast.Ident); is && of.Name == "string" {
				tensors += len(p.Names)
			} else {
				others++
			}
		}
		if others == 0 {
			found[f.Name.Name] = tensors
		}
	}
	return found
}
