package emit

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Shorthand of the programs below.
var (
	mainRef = hostir.StreamRef{Set: "main"}
	i       = hostir.Var("i")
	from    = hostir.Var("from")
	shard   = hostir.Mul(hostir.Div(hostir.Var("M"), hostir.Size), hostir.Var("K"))
	part    = hostir.Mul(hostir.Div(hostir.Var("M"), hostir.Size), hostir.Var("N"))
	loop    = func(body ...hostir.Node) hostir.Node {
		return hostir.For{Index: "i", From: hostir.Const(1), To: hostir.Size, Body: body}
	}
	neighbour = hostir.Let{Name: "from", Value: hostir.Mod(hostir.Add(hostir.Rank, i), hostir.Size)}
)

// small is a program of the usual tensors with another body.
func small(name string, body ...hostir.Node) *hostir.Program {
	s := linear().WithDefaults()
	s.Tensors = append(s.Tensors, schedule.Tensor{Name: "B2", Axes: []schedule.Axis{schedule.Dim(schedule.N2), schedule.Dim(schedule.K)}})
	tensor := func(name string) schedule.Tensor { t, _ := s.Tensor(name); return t }
	m, k, n := hostir.Var("M"), hostir.Var("K"), hostir.Var("N")
	gathered := schedule.Tensor{Name: "Agathered", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.K)}}
	slots := schedule.Tensor{Name: "slots", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.N)}}
	root := tensor("Bias")
	root.Root = true
	return &hostir.Program{Name: name, Schedule: s,
		Buffers: []hostir.Buffer{
			{Name: "A", Tensor: tensor("A"), Owner: hostir.Caller, Shared: true, Elements: shard, Chunk: shard},
			{Name: "B", Tensor: tensor("B"), Owner: hostir.Caller, Elements: hostir.Mul(n, k), Chunk: hostir.Mul(n, k)},
			{Name: "B2", Tensor: tensor("B2"), Owner: hostir.Caller, Elements: hostir.Mul(hostir.Var("N2"), k), Chunk: hostir.Mul(hostir.Var("N2"), k)},
			{Name: "Bias", Tensor: root, Owner: hostir.Caller, Elements: n, Chunk: n},
			{Name: "C", Tensor: tensor("C"), Owner: hostir.Caller, Elements: hostir.Mul(m, n), Chunk: part},
			{Name: "Agathered", Tensor: gathered, Owner: hostir.Plan, Elements: hostir.Mul(m, k), Chunk: shard},
			{Name: "slots", Tensor: slots, Owner: hostir.Plan, Elements: hostir.Mul(m, n), Chunk: part},
		},
		Semaphores: []hostir.Semaphore{{Name: "ready"}, {Name: "read"}, {Name: "step", Count: hostir.Size}},
		Streams:    []hostir.StreamSet{{Name: "main"}},
		Checks:     []hostir.Divide{{Extent: schedule.M, By: schedule.D, Times: 8}, {Extent: schedule.N2, By: "1", Times: 4}},
		Body:       body}
}

// every node, as Go.
var nodes = []*hostir.Program{
	small("Count",
		hostir.Let{Name: "behind", Value: hostir.Sub(hostir.Sub(hostir.Size, hostir.Const(1)), hostir.Rank)},
		hostir.Set{Stream: mainRef, Dst: hostir.View{Buffer: "Agathered", Index: hostir.Const(1), Count: hostir.Const(2)}, Src: hostir.View{Buffer: "A", Peer: hostir.Const(0)}},
		hostir.Set{Stream: mainRef, Dst: hostir.View{Buffer: "Agathered", Index: hostir.Const(2), Count: hostir.Var("behind")}, Src: hostir.View{Buffer: "A"}}),
	small("Grouped",
		hostir.Linear{Stream: mainRef, C: hostir.View{Buffer: "C", Index: hostir.Rank}, A: hostir.View{Buffer: "A"}, B: hostir.View{Buffer: "B"}, Bias: hostir.View{Buffer: "Bias"}},
		hostir.If{X: hostir.Rank, Y: hostir.Const(0), Else: []hostir.Node{
			hostir.Linear{Stream: mainRef, C: hostir.View{Buffer: "C", Count: hostir.Rank}, A: hostir.View{Buffer: "Agathered", Count: hostir.Rank}, B: hostir.View{Buffer: "B"}, Bias: hostir.View{Buffer: "Bias"}}}}),
	small("Products",
		hostir.Matmul{Stream: mainRef, C: hostir.View{Buffer: "C"}, A: hostir.View{Buffer: "Agathered"}, B: hostir.View{Buffer: "B"}},
		hostir.Linear{Stream: mainRef, C: hostir.View{Buffer: "C"}, A: hostir.View{Buffer: "Agathered"}, B: hostir.View{Buffer: "B"}, Gelu: true},
		hostir.Linear{Stream: mainRef, C: hostir.View{Buffer: "slots", Index: hostir.Rank, Peer: hostir.Const(0)}, A: hostir.View{Buffer: "A"}, B: hostir.View{Buffer: "B"}, Accumulate: true},
		hostir.Gradient{Stream: mainRef, C: hostir.View{Buffer: "B"}, A: hostir.View{Buffer: "C"}, B: hostir.View{Buffer: "Agathered"}}),
	small("Put", loop(neighbour,
		hostir.Post{Stream: mainRef, Comm: &hostir.P2PCommunication{Send: true, Peer: from, Protocol: schedule.Put, Buffer: hostir.View{Buffer: "slots", Index: from},
			Remote: hostir.View{Buffer: "slots", Index: hostir.Rank, Peer: from}, Ready: "ready", Done: "step", Index: hostir.Sub(i, hostir.Const(1))}})),
	small("Collective",
		hostir.Communication{Stream: mainRef, Kind: "Allgather", In: hostir.View{Buffer: "A"}, Out: hostir.View{Buffer: "Agathered", Index: hostir.Const(0)}, Ready: "ready", Done: "read"},
		hostir.Wait{Stream: mainRef, Semaphore: "read"}),
	small("Sums",
		hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C", Index: hostir.Rank}, Terms: []hostir.Terms{
			{View: hostir.View{Buffer: "C", Index: hostir.Rank}}, {View: hostir.View{Buffer: "slots", Index: hostir.Const(1)}}}},
		hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C", Index: hostir.Rank}, Terms: []hostir.Terms{
			{View: hostir.View{Buffer: "slots", Peer: hostir.Var("q"), Index: hostir.Rank}, Index: "q", From: hostir.Const(0), To: hostir.Size}}},
		hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C", Index: hostir.Rank}, Terms: []hostir.Terms{
			{View: hostir.View{Buffer: "C"}}, {View: hostir.View{Buffer: "slots", Index: hostir.Var("q")}, Index: "q", From: hostir.Const(1), To: hostir.Size}}}),
	small("Inner", hostir.For{Index: "j", From: hostir.Const(0), To: hostir.Const(2), Body: []hostir.Node{
		hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C", Index: hostir.Rank}, Terms: []hostir.Terms{
			{View: hostir.View{Buffer: "slots", Index: hostir.Add(hostir.Mul(hostir.Var("q"), hostir.Const(2)), hostir.Var("j"))}, Index: "q", From: hostir.Const(0), To: hostir.Size}}}}}),
	small("Fused", loop(neighbour,
		hostir.LaunchKernel{Stream: mainRef, Name: "get", Body: []hostir.Node{
			hostir.Wait{Stream: mainRef, Semaphore: "ready", Peer: from},
			hostir.Set{Stream: mainRef, Dst: hostir.View{Buffer: "Agathered", Index: from}, Src: hostir.View{Buffer: "A", Peer: from}},
			hostir.Post{Stream: mainRef, Semaphore: "step", Index: i, Peer: from}}}),
		hostir.LaunchKernel{Stream: mainRef, Name: "shot", Body: []hostir.Node{
			hostir.Wait{Stream: mainRef, Semaphore: "ready"},
			hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C", Index: hostir.Rank}, Terms: []hostir.Terms{
				{View: hostir.View{Buffer: "slots", Peer: hostir.Var("q"), Index: hostir.Rank}, Index: "q", From: hostir.Const(0), To: hostir.Size}}}}},
		hostir.LaunchKernel{Stream: mainRef, Name: "shot", Body: []hostir.Node{
			hostir.Post{Stream: mainRef, Semaphore: "ready"},
			hostir.Wait{Stream: mainRef, Semaphore: "ready"},
			hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C"}, Terms: []hostir.Terms{{View: hostir.View{Buffer: "A"}}}},
			hostir.Post{Stream: mainRef, Semaphore: "step", Index: hostir.Const(1)},
			hostir.Wait{Stream: mainRef, Semaphore: "read"}}}),
	small("InLoop", loop(neighbour,
		hostir.ShareMemHandles{Send: &hostir.P2PCommunication{Send: true, Peer: hostir.Mod(hostir.Sub(hostir.Add(hostir.Size, hostir.Rank), i), hostir.Size), Buffer: hostir.View{Buffer: "A"}, Protocol: schedule.Get},
			Recv: &hostir.P2PCommunication{Peer: from, Buffer: hostir.View{Buffer: "Agathered", Index: from}, Remote: hostir.View{Buffer: "A", Peer: from}, Protocol: schedule.Get}},
		hostir.Set{Stream: mainRef, Dst: hostir.View{Buffer: "Agathered", Index: from}, Src: hostir.View{Buffer: "A", Peer: from}})),
}

// parts of a program.go that a program decides; issued are those that its nodes do.
var (
	chosen = regexp.MustCompile(`(?ms)^	if s\.M.*?^	switch|^type Buffers struct.*?^}\n|^type Plan struct.*?^}\n|^	b := plan\.Build.*?^\n|^func \(p \*Plan\) issue.*?^}\n`)
	issued = regexp.MustCompile(`(?m)^	terms .*|^	p\.(a|gemm\w*) = b.*|^func \(p \*Plan\) issue(?s:.*?)^}\n`)
)

// TestNodes shows the Go of each node; -update writes it anew.
func TestNodes(t *testing.T) {
	const golden = "testdata/nodes.txtar"
	var got txtar.Archive
	for _, p := range nodes {
		u, err := newUnit(Input{Program: p, Doc: p.Name + " is a test."}, Options{ImportPath: "example.com/user/made", Compiler: fake{}})
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
		got.Files = append(got.Files, txtar.File{Name: p.Name, Data: []byte(strings.Join(show.FindAllString(string(text), -1), "\n"))})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(&got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(&got))); diff != "" {
		t.Errorf("(-golden +emitted), go test -update if that is meant:\n%s", diff)
	}
}

func TestNodesRefused(t *testing.T) {
	view := hostir.View{Buffer: "A"}
	launch := func(name string, body ...hostir.Node) hostir.Node {
		return hostir.LaunchKernel{Stream: mainRef, Name: name, Body: body}
	}
	for want, n := range map[string]hostir.Node{
		"node hostir.Wait there":    launch("get", hostir.Wait{Semaphore: "ready"}, hostir.Wait{Semaphore: "read"}, hostir.Set{Dst: view, Src: view}),
		"a copy waits before it":    launch("get", hostir.Post{Semaphore: "ready"}, hostir.Set{Dst: view, Src: view}),
		"kernel shot can't do node": launch("shot", hostir.Wait{Semaphore: "ready"}, hostir.Post{Semaphore: "ready"}, hostir.Reduce{Dst: view, Terms: []hostir.Terms{{View: view}}}),
		"nothing to copy or to add": launch("put", hostir.Wait{Semaphore: "ready"}),
		"signals every peer":        launch("shot", hostir.Wait{Semaphore: "ready", Peer: from}, hostir.Reduce{Dst: view, Terms: []hostir.Terms{{View: view}}}),
		"can't do node hostir.Sync": launch("get", hostir.Synchronize{}),
		`no semaphore "none"`:       hostir.Post{Stream: mainRef, Semaphore: "none"},
		"depend on i":               loop(hostir.Linear{Stream: mainRef, C: hostir.View{Buffer: "C", Count: i}, A: hostir.View{Buffer: "Agathered", Count: i}, B: hostir.View{Buffer: "B"}}),
		"is no matrix":              hostir.Matmul{Stream: mainRef, C: hostir.View{Buffer: "Bias"}, A: view, B: view},
		`the program has no buffer`: hostir.Set{Stream: mainRef, Dst: hostir.View{Buffer: "X"}, Src: view},
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
