package hostir_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// nodeCheck is a node, and the mistake in it; empty: none.
type nodeCheck struct {
	name string
	n    hostir.Node
	want string
}

// Parts of the nodes that are checked.
var (
	onMain  = hostir.Stream("main")
	viewA   = hostir.Whole("A")
	viewC   = hostir.Whole("C")
	noView  = hostir.View{}
	postOne = hostir.Post(onMain, "ready", hostir.Rank)
)

// edited is a step with an edit.
func edited(n hostir.Step, f func(*hostir.Step)) hostir.Step {
	f(&n)
	return n
}

// carried is a step that another carrier does.
func carried(n hostir.Step, by string) hostir.Step {
	n.By = by
	return n
}

// TestCheck: a step that can't be done is refused.
func TestCheck(t *testing.T) {
	for _, x := range slices.Concat(steps, kernels(), products, sums, collectives) {
		err := hostir.Check([]hostir.Node{x.n})
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
}

// steps are of what a step has to have.
var steps = []nodeCheck{
	{"a post", postOne, ""},
	{"a fused copy", hostir.Fuse("get", hostir.Set(onMain, viewC, viewA), postOne), ""},
	{"nothing", hostir.Step{Stream: onMain}, "a step without work is one post or one wait"},
	{"nil", nil, "nil"},
	{"nil in a loop", hostir.Loop("i", hostir.Rank, hostir.Size, nil), "nil"},
	{"two posts", edited(postOne, func(n *hostir.Step) { n.Post = append(n.Post, n.Post[0]) }), "one post or one wait"},
	{"a copy of nothing", hostir.Set(onMain, viewC, noView), "a copy reads one view"},
	{"a sum by nobody", carried(hostir.Reduce(onMain, viewC, viewA), ""), "a kernel does it"},
	{"signals by nobody", carried(hostir.Fuse("get", hostir.Set(onMain, viewC, viewA), postOne), ""),
		"only a kernel signals around its work"},
	{"a call by a kernel", carried(hostir.CallOf(onMain, "F", hostir.Launch{}, viewC, viewA), "x"),
		"nothing else carries it"},
	{"a call of nothing", hostir.CallOf(onMain, "F", hostir.Launch{}, viewC), "reads views"},
	{"a copy of each", hostir.Set(onMain, viewC, viewA.EachRank()), "only a sum"},
}

// kernels has cases of kernels that gather, multiply or sum between their signals.
func kernels() []nodeCheck {
	gather := hostir.Fuse("gather", hostir.Collect(onMain, viewC, viewA.EachRank()), postOne)
	tiles := hostir.Fuse("tiles", hostir.Do(onMain,
		hostir.Tiles{To: viewC, Gathered: viewC, Own: viewA, Shards: viewA.EachRank(), B: viewA}), postOne)
	scatter := hostir.Fuse("scatter", hostir.Do(onMain,
		hostir.Scatter{To: viewC, Peers: viewA.EachRank(), Slots: viewA, Own: viewA, A: viewA, B: viewA}), postOne)
	return []nodeCheck{
		{"a gather", gather, ""},
		{"a gather of nothing", of(gather, func(x *hostir.Gather) { x.From = nil }), "a gather reads views"},
		{"a gather by nobody", carried(gather, ""), "a kernel does it"},
		{"a gather without signals", edited(gather, func(n *hostir.Step) { n.Post = nil }), "between its signals"},
		{"tiles", tiles, ""},
		{"tiles with a bias", of(tiles, func(x *hostir.Tiles) { x.Bias = viewA }), ""},
		{"tiles of one shard", of(tiles, func(x *hostir.Tiles) { x.Shards = viewA }), "those of the peers"},
		{"tiles of no own shard", of(tiles, func(x *hostir.Tiles) { x.Own = noView }), "read the own shard"},
		{"tiles of one operand", of(tiles, func(x *hostir.Tiles) { x.B = noView }), "a second operand"},
		{"tiles that make nothing", of(tiles, func(x *hostir.Tiles) { x.To = noView }), "results and shards"},
		{"tiles that gather nothing", of(tiles, func(x *hostir.Tiles) { x.Gathered = noView }), "results and shards"},
		{"tiles of columns", of(tiles, func(x *hostir.Tiles) { x.B = hostir.Columns("B", hostir.Rank) }), "columns"},
		{"tiles that signal nothing", edited(tiles, func(n *hostir.Step) { n.Post = nil }), "between its signals"},
		{"a scatter", scatter, ""},
		{"a scatter of no slots", of(scatter, func(x *hostir.Scatter) { x.Slots = noView }),
			"a scatter reads all rows"},
		{"a scatter to one peer", of(scatter, func(x *hostir.Scatter) { x.Peers = viewA }), "slots at the peers"},
		{"a scatter without its own slot", of(scatter, func(x *hostir.Scatter) { x.Own = noView }), "and the own one"},
		{"a scatter of no rows", of(scatter, func(x *hostir.Scatter) { x.A = noView }), "reads all rows"},
		{"a scatter that signals nothing", edited(scatter, func(n *hostir.Step) { n.Post = nil }),
			"between its signals"},
	}
}

// products are of the operands and the index of a product.
var products = []nodeCheck{
	{"a product", productOf(hostir.Linear), ""},
	{"a product of one", of(productOf(hostir.Linear), func(x *hostir.Product) { x.B = noView }), "two operands"},
	{"a product of each", of(productOf(hostir.Linear), func(x *hostir.Product) { x.A = viewA.EachRank() }),
		"only a sum"},
	{"no arrow", productOf("mk,nk"), "no two operands and a result"},
	{"one operand", productOf("mk->mn"), "no two operands and a result"},
	{"three axes", productOf("bmk,nk->bmn"), "not of matrices"},
	{"nothing in common", productOf("mk,nl->mn"), "share the index"},
	{"both transposed", productOf("km,nk->mn"), "both operands are transposed"},
}

func productOf(index string) hostir.Step { return hostir.Multiply(onMain, index, viewC, viewA, viewA) }

// sums are of a sum that ends with a function.
var sums = []nodeCheck{
	{"a sum with a bias", ending(schedule.Bias("b"), hostir.Const(8), viewA), ""},
	{"a bias without a row", ending(schedule.Bias("b"), hostir.Const(8)), "a view for each operand"},
	{"a bias of no columns", ending(schedule.Bias("b"), hostir.Expr{}, viewA), "needs the columns of a row"},
	{"a bias of a peer's", ending(schedule.Bias("b"), hostir.Const(8), viewA.At(hostir.Rank)), "of its own rank"},
	{"a norm in a sum", ending(schedule.RMSNorm("w"), hostir.Const(8), viewA), "the sum's element at its place"},
}

// ending is a sum that ends with a function of rows of so many columns, and of operands.
func ending(f schedule.Func, columns hostir.Expr, operands ...hostir.View) hostir.Node {
	return of(hostir.Reduce(onMain, viewC, viewA), func(x *hostir.Sum) {
		x.Finish = hostir.FinishBy(f.Name(), []schedule.Expr{f.Tree()}, columns, operands...)
	})
}

// collectives are of what NCCL does.
var collectives = []nodeCheck{
	{"a collective", hostir.Together(onMain, hostir.AllGather, viewC, viewA), ""},
	{"a collective of a peer's memory", hostir.Together(onMain, hostir.AllGather, viewC, viewA.At(hostir.Rank)),
		"its own rank"},
	{"a collective of nothing", hostir.Together(onMain, hostir.AllToAll, viewC, noView),
		"reads one view and writes one"},
	{"a collective of each", hostir.Together(onMain, hostir.AllToAll, viewC, viewA.EachRank()),
		"each value of an index"},
	{"a collective copy", hostir.Together(onMain, hostir.CopyKind, viewC, viewA), "no collective"},
	{"an exchange", hostir.Exchanged(onMain, viewC, viewA, hostir.Rank, hostir.Rank), ""},
	{"an exchange with nobody", hostir.Exchanged(onMain, viewC, viewA, hostir.Rank, hostir.Expr{}), "names the ranks"},
	{"a gather from one rank", of(hostir.Together(onMain, hostir.AllGather, viewC, viewA), func(x *hostir.Collective) {
		x.Source = hostir.Rank
	}), "names the ranks"},
	{"a collective by nobody", carried(hostir.Together(onMain, hostir.AllReduce, viewC, viewA), ""),
		"NCCL alone does a collective"},
	{"a copy by NCCL", carried(hostir.Set(onMain, viewC, viewA), hostir.NCCL), "collectives only"},
}
