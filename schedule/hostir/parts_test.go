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

// A step that can't be done is refused.
func TestCheck(t *testing.T) {
	s, a, c, none := hostir.Stream("main"), hostir.Whole("A"), hostir.Whole("C"), hostir.View{}
	post := hostir.Post(s, "ready", hostir.Rank)
	product := func(index string) hostir.Step { return hostir.Multiply(s, index, c, a, a) }
	gather := hostir.Fuse("gather", hostir.Collect(s, c, a.EachRank()), post)
	tiles := hostir.Fuse("tiles", hostir.Do(s,
		hostir.Tiles{To: c, Gathered: c, Own: a, Shards: a.EachRank(), B: a}), post)
	scatter := hostir.Fuse("scatter", hostir.Do(s,
		hostir.Scatter{To: c, Peers: a.EachRank(), Slots: a, Own: a, A: a, B: a}), post)
	edit := func(n hostir.Step, f func(*hostir.Step)) hostir.Step { f(&n); return n }
	ending := func(f schedule.Func, columns hostir.Expr, operands ...hostir.View) hostir.Node {
		return of(hostir.Reduce(s, c, a), func(x *hostir.Sum) {
			x.Finish = hostir.FinishBy(f.Name(), []schedule.Expr{f.Tree()}, columns, operands...)
		})
	}
	for _, x := range []struct {
		name string
		n    hostir.Node
		want string // empty: nothing is wrong
	}{
		{"a post", post, ""},
		{"a fused copy", hostir.Fuse("get", hostir.Set(s, c, a), post), ""},
		{"a product", product(hostir.Linear), ""},
		{"nothing", hostir.Step{Stream: s}, "a step without work is one post or one wait"},
		{"nil", nil, "nil"},
		{"nil in a loop", hostir.Loop("i", hostir.Rank, hostir.Size, nil), "nil"},
		{"two posts", edit(post, func(n *hostir.Step) { n.Post = append(n.Post, n.Post[0]) }), "one post or one wait"},
		{"a copy of nothing", hostir.Set(s, c, none), "a copy reads one view"},
		{"a gather", gather, ""},
		{"a gather of nothing", of(gather, func(x *hostir.Gather) { x.From = nil }), "a gather reads views"},
		{"a gather by nobody", edit(gather, func(n *hostir.Step) { n.By = "" }), "a kernel does it"},
		{"a gather without signals", edit(gather, func(n *hostir.Step) { n.Post = nil }), "between its signals"},
		{"tiles", tiles, ""},
		{"tiles with a bias", of(tiles, func(x *hostir.Tiles) { x.Bias = a }), ""},
		{"tiles of one shard", of(tiles, func(x *hostir.Tiles) { x.Shards = a }), "those of the peers"},
		{"tiles of no own shard", of(tiles, func(x *hostir.Tiles) { x.Own = none }), "read the own shard"},
		{"tiles of one operand", of(tiles, func(x *hostir.Tiles) { x.B = none }), "a second operand"},
		{"tiles that make nothing", of(tiles, func(x *hostir.Tiles) { x.To = none }), "results and shards"},
		{"tiles that gather nothing", of(tiles, func(x *hostir.Tiles) { x.Gathered = none }), "results and shards"},
		{"tiles of columns", of(tiles, func(x *hostir.Tiles) { x.B = hostir.Columns("B", hostir.Rank) }), "columns"},
		{"tiles that signal nothing", edit(tiles, func(n *hostir.Step) { n.Post = nil }), "between its signals"},
		{"a scatter", scatter, ""},
		{"a scatter of no slots", of(scatter, func(x *hostir.Scatter) { x.Slots = none }), "a scatter reads all rows"},
		{"a scatter to one peer", of(scatter, func(x *hostir.Scatter) { x.Peers = a }), "slots at the peers"},
		{"a scatter without its own slot", of(scatter, func(x *hostir.Scatter) { x.Own = none }), "and the own one"},
		{"a scatter of no rows", of(scatter, func(x *hostir.Scatter) { x.A = none }), "reads all rows"},
		{"a scatter that signals nothing", edit(scatter, func(n *hostir.Step) { n.Post = nil }), "between its signals"},
		{"a sum by nobody", edit(hostir.Reduce(s, c, a), func(n *hostir.Step) { n.By = "" }), "a kernel does it"},
		{"signals by nobody", edit(hostir.Fuse("get", hostir.Set(s, c, a), post), func(n *hostir.Step) { n.By = "" }),
			"only a kernel signals around its work"},
		{"a product of one", of(product(hostir.Linear), func(x *hostir.Product) { x.B = none }), "two operands"},
		{"a product of each", of(product(hostir.Linear), func(x *hostir.Product) { x.A = a.EachRank() }), "only a sum"},
		{"a sum with a bias", ending(schedule.Bias("b"), hostir.Const(8), a), ""},
		{"a bias without a row", ending(schedule.Bias("b"), hostir.Const(8)), "a view for each operand"},
		{"a bias of no columns", ending(schedule.Bias("b"), hostir.Expr{}, a), "needs the columns of a row"},
		{"a bias of a peer's", ending(schedule.Bias("b"), hostir.Const(8), a.At(hostir.Rank)), "of its own rank"},
		{"a norm in a sum", ending(schedule.RMSNorm("w"), hostir.Const(8), a), "the sum's element at its place"},
		{"a call by a kernel", edit(hostir.CallOf(s, "F", hostir.Launch{}, c, a), func(n *hostir.Step) { n.By = "x" }),
			"nothing else carries it"},
		{"a call of nothing", hostir.CallOf(s, "F", hostir.Launch{}, c), "reads views"},
		{"a copy of each", hostir.Set(s, c, a.EachRank()), "only a sum"},
		{"a collective", hostir.Together(s, hostir.AllGather, c, a), ""},
		{"a collective of a peer's memory", hostir.Together(s, hostir.AllGather, c, a.At(hostir.Rank)), "its own rank"},
		{"a collective of nothing", hostir.Together(s, hostir.AllToAll, c, none), "reads one view and writes one"},
		{"a collective of each", hostir.Together(s, hostir.AllToAll, c, a.EachRank()), "each value of an index"},
		{"a collective copy", hostir.Together(s, hostir.CopyKind, c, a), "no collective"},
		{"an exchange", hostir.Exchanged(s, c, a, hostir.Rank, hostir.Rank), ""},
		{"an exchange with nobody", hostir.Exchanged(s, c, a, hostir.Rank, hostir.Expr{}), "names the ranks"},
		{"a gather from one rank", of(hostir.Together(s, hostir.AllGather, c, a), func(x *hostir.Collective) {
			x.Source = hostir.Rank
		}), "names the ranks"},
		{"a collective by nobody", edit(hostir.Together(s, hostir.AllReduce, c, a), func(n *hostir.Step) { n.By = "" }),
			"NCCL alone does a collective"},
		{"a copy by NCCL", edit(hostir.Set(s, c, a), func(n *hostir.Step) { n.By = hostir.NCCL }), "collectives only"},
		{"no arrow", product("mk,nk"), "no two operands and a result"},
		{"one operand", product("mk->mn"), "no two operands and a result"},
		{"three axes", product("bmk,nk->bmn"), "not of matrices"},
		{"nothing in common", product("mk,nl->mn"), "share the index"},
		{"both transposed", product("km,nk->mn"), "both operands are transposed"},
	} {
		err := hostir.Check([]hostir.Node{x.n})
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
}
