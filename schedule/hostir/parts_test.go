package hostir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// kinds of nodes.
var kinds = []hostir.Node{hostir.For{}, hostir.Let{}, hostir.If{}, hostir.Synchronize{}, hostir.Share{}, hostir.Step{}}

// The list above is that of the package.
func TestKinds(t *testing.T) {
	var names, have []string
	packages, err := parser.ParseDir(token.NewFileSet(), ".",
		func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range packages["hostir"].Files {
		for _, d := range f.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.Name == "node" {
				names = append(names, m.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	for _, k := range kinds {
		have = append(have, reflect.TypeOf(k).Name())
	}
	slices.Sort(names)
	slices.Sort(have)
	if diff := cmp.Diff(names, have); diff != "" {
		t.Errorf("(-package +test):\n%s", diff)
	}
}

// Every kind of node tells With all its parts, and takes them back rewritten: what
// reflection finds in a node of which every field is set, With visits.
func TestWithVisitsAllParts(t *testing.T) {
	for _, k := range kinds {
		t.Run(reflect.TypeOf(k).Name(), func(t *testing.T) {
			v := reflect.New(reflect.TypeOf(k)).Elem()
			next := 0
			fill(v, &next)
			n := v.Interface().(hostir.Node)
			want := found(v)
			got := map[string]int{}
			rewritten := n.With(hostir.Parts{
				Body:   func(b []hostir.Node) []hostir.Node { got["body"]++; return nil },
				Stream: func(s hostir.StreamRef) hostir.StreamRef { got["stream"]++; return s },
				Word:   func(w hostir.Word) hostir.Word { got["word"]++; return w },
				View:   func(_ string, v hostir.View) hostir.View { got["view"]++; return v },
				Expr:   func(_ string, e hostir.Expr) hostir.Expr { got["expr"]++; return hostir.Expr{} },
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("parts (-there +visited):\n%s", diff)
			}
			left := found(reflect.ValueOf(rewritten))
			if left["expr"] != 0 || left["body"] != 0 {
				t.Errorf("expressions and bodies that stay as they were: %v", left)
			}
		})
	}
}

// fill sets every field of a value.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Interface().(type) {
	case hostir.Expr:
		v.Set(reflect.ValueOf(hostir.Var("x" + strconv.Itoa(*next))))
		return
	case schedule.Expr:
		v.Set(reflect.ValueOf(schedule.Of("s" + strconv.Itoa(*next))))
		return
	case []hostir.Node:
		v.Set(reflect.ValueOf([]hostir.Node{hostir.Let{Name: "inner", Value: hostir.Const(1)}}))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), next)
		fill(v.Index(1), next)
	case reflect.String:
		v.SetString("s" + strconv.Itoa(*next))
	case reflect.Bool:
		v.SetBool(true)
	}
}

// found counts the parts of a value.
func found(v reflect.Value) map[string]int {
	n := map[string]int{}
	var count func(v reflect.Value)
	count = func(v reflect.Value) {
		switch x := v.Interface().(type) {
		case hostir.Expr:
			if !x.IsZero() {
				n["expr"]++
			}
			return
		case []hostir.Node:
			if len(x) > 0 {
				n["body"]++
			}
			return
		case hostir.StreamRef:
			n["stream"]++
		case hostir.Word:
			n["word"]++
		case hostir.View:
			n["view"]++
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				count(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				count(v.Index(i))
			}
		}
	}
	count(v)
	return n
}

// A node put on a stream is there with all steps of its bodies.
func TestOnReachesBodies(t *testing.T) {
	s := hostir.Stream("copy")
	inner := []hostir.Node{hostir.Loop("i", hostir.Const(0), hostir.Size,
		hostir.If{Else: []hostir.Node{hostir.Post(hostir.Stream("main"), "ready", hostir.Rank)}},
		hostir.Set(hostir.Stream("main"), hostir.Whole("C"), hostir.Whole("A")))}
	steps := 0
	hostir.Steps(hostir.AllOn(inner, s), func(n hostir.Step) {
		if steps++; n.Stream != s {
			t.Errorf("%s is on %v", hostir.PrintNode(n), n.Stream)
		}
	})
	if steps != 2 {
		t.Errorf("%d steps", steps)
	}
}

// of is a step with its work edited.
func of[W hostir.Work](n hostir.Step, f func(*W)) hostir.Step {
	x := n.Do.(W)
	f(&x)
	n.Do = x
	return n
}
