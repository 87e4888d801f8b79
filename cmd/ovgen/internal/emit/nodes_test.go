package emit

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Shorthand of the programs below.
var (
	mainRef   = hostir.Stream("main")
	i         = hostir.Var("i")
	from      = hostir.Var("from")
	shard     = hostir.Mul(hostir.Div(hostir.Var("M"), hostir.Size), hostir.Var("K"))
	part      = hostir.Mul(hostir.Div(hostir.Var("M"), hostir.Size), hostir.Var("N"))
	loop      = func(body ...hostir.Node) hostir.Node { return hostir.Loop("i", hostir.Const(1), hostir.Size, body...) }
	neighbour = hostir.Bind("from", hostir.Ahead(i))
)

// gelu is a product followed by GELU.
func gelu(s hostir.Step) hostir.Step { return s.Then("gelu") }

// byKernel is the one thing that a step does, by a kernel.
func byKernel(s hostir.Step) hostir.Step {
	s.By = hostir.CopyKernel
	if w, ok := s.Signal(); ok && w.Wait {
		s.By = hostir.WaitKernel
	} else if ok {
		s.By = hostir.PostKernel
	}
	return s
}

// small is a program of the usual tensors with another body.
func small(name string, body ...hostir.Node) *hostir.Program {
	s := linear().WithDefaults()
	s.Tensors = append(s.Tensors, schedule.Tensor{Name: "B2",
		Axes: []schedule.Axis{schedule.Dim(schedule.N2), schedule.Dim(schedule.K)}})
	tensor := func(name string) schedule.Tensor { t, _ := s.Tensor(name); return t }
	m, k, n := hostir.Var("M"), hostir.Var("K"), hostir.Var("N")
	gathered := schedule.Tensor{Name: "Agathered",
		Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.K)}}
	slots := schedule.Tensor{Name: "slots", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream(schedule.D)),
		schedule.Dim(schedule.N)}}
	root := tensor("Bias")
	root.Root = true
	return &hostir.Program{Name: name, Schedule: s,
		Buffers: []hostir.Buffer{
			{Name: "A", Tensor: tensor("A"), Owner: hostir.Caller, Shared: true, Elements: shard, Chunk: shard},
			{Name: "B", Tensor: tensor("B"), Owner: hostir.Caller, Elements: hostir.Mul(n, k), Chunk: hostir.Mul(n, k)},
			{Name: "B2", Tensor: tensor("B2"), Owner: hostir.Caller, Elements: hostir.Mul(hostir.Var("N2"), k),
				Chunk: hostir.Mul(hostir.Var("N2"), k)},
			{Name: "Bias", Tensor: root, Owner: hostir.Caller, Elements: n, Chunk: n},
			{Name: "C", Tensor: tensor("C"), Owner: hostir.Caller, Elements: hostir.Mul(m, n), Chunk: part},
			{Name: "Agathered", Tensor: gathered, Owner: hostir.Plan, Elements: hostir.Mul(m, k), Chunk: shard},
			{Name: "slots", Tensor: slots, Owner: hostir.Plan, Elements: hostir.Mul(m, n), Chunk: part},
		},
		Semaphores: []hostir.Semaphore{{Name: "ready"}, {Name: "read"}, {Name: "step", Count: hostir.Size}},
		Streams:    []hostir.StreamSet{{Name: "main"}},
		Checks: []hostir.Divide{{Extent: schedule.M, By: schedule.D, Times: 8},
			{Extent: schedule.N2, By: "1", Times: 4}},
		Body: body}
}

// every node, as Go.
var nodes = []*hostir.Program{
	small("Count",
		hostir.Let{Name: "behind", Value: hostir.Sub(hostir.Sub(hostir.Size, hostir.Const(1)), hostir.Rank)},
		hostir.Set(mainRef, hostir.View{Buffer: "Agathered", Index: hostir.Const(1), Count: hostir.Const(2)},
			hostir.View{Buffer: "A", Peer: hostir.Const(0)}),
		hostir.Set(mainRef, hostir.View{Buffer: "Agathered", Index: hostir.Const(2), Count: hostir.Var("behind")},
			hostir.Whole("A"))),
	small("Again",
		hostir.Let{Name: "to", Value: hostir.Rank}, // used by none
		hostir.Let{Name: "to", Value: hostir.Mod(hostir.Add(hostir.Rank, hostir.Const(1)), hostir.Size)},
		hostir.Post(mainRef, "ready", hostir.Var("to")),
		hostir.Let{Name: "to", Value: hostir.Sub(hostir.Rank, hostir.Const(1))},
		hostir.Post(mainRef, "read", hostir.Var("to"))),
	small("Grouped",
		hostir.Multiply(mainRef, hostir.Linear, hostir.Chunk("C", hostir.Rank), hostir.Whole("A"), hostir.Whole("B"),
			hostir.Whole("Bias")),
		hostir.If{X: hostir.Rank, Y: hostir.Const(0), Else: []hostir.Node{
			hostir.Multiply(mainRef, hostir.Linear, hostir.View{Buffer: "C", Count: hostir.Rank},
				hostir.View{Buffer: "Agathered", Count: hostir.Rank}, hostir.Whole("B"), hostir.Whole("Bias"))}}),
	small("Products",
		hostir.Multiply(mainRef, hostir.Matmul, hostir.Whole("C"), hostir.Whole("Agathered"), hostir.Whole("B")),
		gelu(hostir.Multiply(mainRef, hostir.Linear, hostir.Whole("C"), hostir.Whole("Agathered"), hostir.Whole("B"))),
		hostir.Multiply(mainRef, hostir.Linear, hostir.View{Buffer: "slots", Index: hostir.Rank, Peer: hostir.Const(0)},
			hostir.Whole("A"), hostir.Whole("B")).Accumulated(),
		hostir.Multiply(mainRef, hostir.Gradient, hostir.Whole("B"), hostir.Whole("C"), hostir.Whole("Agathered"))),
	small("Put", loop(neighbour,
		hostir.Wait(mainRef, "ready", from).Member(hostir.Sub(i, hostir.Const(1))),
		hostir.Set(mainRef, hostir.Remote("slots", from, hostir.Rank), hostir.Chunk("slots", from)),
		hostir.Post(mainRef, "step", from).Member(hostir.Sub(i, hostir.Const(1))))),
	small("Sums",
		hostir.Reduce(mainRef, hostir.Chunk("C", hostir.Rank), hostir.Chunk("C", hostir.Rank),
			hostir.Chunk("slots", hostir.Const(1))),
		hostir.Reduce(mainRef, hostir.Chunk("C", hostir.Rank),
			hostir.View{Buffer: "slots", Peer: hostir.Var("q"), Index: hostir.Rank}.Over("q", hostir.Const(0),
				hostir.Size)),
		hostir.Reduce(mainRef, hostir.Chunk("C", hostir.Rank), hostir.Whole("C"),
			hostir.View{Buffer: "slots", Index: hostir.Var("q")}.Over("q", hostir.Const(1), hostir.Size))),
	small("Inner", hostir.For{Index: "j", From: hostir.Const(0), To: hostir.Const(2), Body: []hostir.Node{
		hostir.Reduce(mainRef, hostir.Chunk("C", hostir.Rank),
			hostir.View{Buffer: "slots", Index: hostir.Add(hostir.Mul(hostir.Var("q"), hostir.Const(2)),
				hostir.Var("j"))}.Over("q", hostir.Const(0), hostir.Size))}}),
	small("Fused", loop(neighbour,
		hostir.Fuse("get", hostir.Wait(mainRef, "ready", from),
			hostir.Set(mainRef, hostir.Chunk("Agathered", from),
				hostir.View{Buffer: "A", Peer: from}), hostir.Post(mainRef, "step", from).Member(i))),
		hostir.Fuse("shot", hostir.Wait(mainRef, "ready", hostir.Every),
			hostir.Reduce(mainRef, hostir.Chunk("C", hostir.Rank),
				hostir.View{Buffer: "slots", Peer: hostir.Var("q"), Index: hostir.Rank}.Over("q", hostir.Const(0),
					hostir.Size))),
		hostir.Fuse("shot", hostir.Post(mainRef, "ready", hostir.Every), hostir.Wait(mainRef, "ready", hostir.Every),
			hostir.Reduce(mainRef, hostir.Whole("C"), hostir.Whole("A")), hostir.Post(mainRef, "step",
				hostir.Every).Member(hostir.Const(1)), hostir.Wait(mainRef, "read", hostir.Every))),
	small("Ends",
		hostir.Loop("i", hostir.Const(1), hostir.Add(hostir.Size, hostir.Const(1)),
			hostir.Set(mainRef, hostir.Chunk("slots", hostir.Sub(i, hostir.Const(1))), hostir.Chunk("C", hostir.Rank))),
		hostir.Loop("i", hostir.Const(1), hostir.Const(10),
			hostir.Set(mainRef, hostir.Chunk("slots", i), hostir.Chunk("C", hostir.Rank)))),
	small("InLoop", loop(neighbour,
		hostir.Share{Buffers: []string{"A"}, To: hostir.Behind(i), From: from},
		hostir.Set(mainRef, hostir.Chunk("Agathered", from), hostir.View{Buffer: "A", Peer: from}))),
}

// chosen are the parts of a program.go that depend on the program; issued are the parts
// that depend on its nodes.
var (
	chosen = regexp.MustCompile(`(?ms)^	if s\.M.*?^	switch|^type (Buffers|Plan) struct.*?^}\n` +
		`|^	b := plan\.Build.*?^\n|^func \(p \*Plan\) issue.*?^}\n`)
	issued = regexp.MustCompile(`(?m)^	terms .*|^	p\.(a|gemm\w*) = b.*|^func \(p \*Plan\) issue(?s:.*?)^}\n`)
)

// TestNodes shows the Go of each node; -update writes it anew.
func TestNodes(t *testing.T) {
	var got txtar.Archive
	for _, p := range nodes {
		u, err := newUnit(Input{Program: p, Doc: p.Name + " is a test."},
			Options{ImportPath: "example.com/user/made", Compiler: fake{}})
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		text, err := u.programFile()
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		show := issued
		if len(got.Files) == 0 {
			show = chosen
		}
		got.Files = append(got.Files, txtar.File{Name: p.Name,
			Data: []byte(strings.Join(show.FindAllString(string(text), -1), "\n"))})
	}
	compare(t, "testdata/nodes.txtar", txtar.Format(&got))
}

func TestNodesRefused(t *testing.T) {
	view := hostir.Whole("A")
	ready, set := hostir.Wait(mainRef, "ready", from), hostir.Set(mainRef, view, view)
	post, sum := hostir.Post(mainRef, "ready", hostir.Every), hostir.Reduce(mainRef, view, view)
	every := hostir.Wait(mainRef, "ready", hostir.Every)
	for want, n := range map[string]hostir.Node{
		`"Wait ready[from]" there`:          hostir.Fuse("get", ready, ready, set),
		`"Post ready -> every peer" there`:  hostir.Fuse("get", post, set),
		`can't do "Post ready -> every pee`: hostir.Fuse("shot", every, post, sum),
		"kernel put does no sum":            hostir.Fuse("put", ready, sum),
		"kernel shot does no copy":          hostir.Fuse("shot", every, set),
		"signals every peer":                hostir.Fuse("shot", ready, sum),
		"no Go is known for":                hostir.Step{Stream: mainRef},
		`no semaphore "none"`:               hostir.Post(mainRef, "none", hostir.Every),
		"depend on i": loop(hostir.Multiply(mainRef, hostir.Linear,
			hostir.View{Buffer: "C", Count: i}, hostir.View{Buffer: "Agathered", Count: i}, hostir.Whole("B"))),
		"is no matrix":              hostir.Multiply(mainRef, hostir.Matmul, hostir.Whole("Bias"), view, view),
		"share the index":           hostir.Multiply(mainRef, "mk,nl->mn", hostir.Whole("C"), view, view),
		`the program has no buffer`: hostir.Set(mainRef, hostir.Whole("X"), view),
	} {
		u, err := newUnit(Input{Program: small("Wrong", n)}, Options{Compiler: fake{}})
		if err == nil {
			_, err = u.programFile()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
