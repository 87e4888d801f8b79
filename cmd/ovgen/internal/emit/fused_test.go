package emit

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
	"ovgen/verify/cost"
)

// wholesale launches every kind of kernel.
func wholesale() Input {
	own, gathered := hostir.View{Buffer: "A"}, hostir.View{Buffer: "Agathered", Index: from}
	slots := []hostir.Terms{{View: hostir.View{Buffer: "slots", Index: hostir.Const(0)}}, {View: hostir.View{Buffer: "slots", Index: hostir.Const(1)}}}
	sum := hostir.Reduce{Stream: mainRef, Dst: hostir.View{Buffer: "C", Index: hostir.Rank}, Terms: slots}
	ready, read := hostir.Wait{Stream: mainRef, Semaphore: "ready", Peer: from}, hostir.Post{Stream: mainRef, Semaphore: "read", Peer: from}
	kernel := func(name string, body ...hostir.Node) hostir.Node {
		return hostir.LaunchKernel{Stream: mainRef, Name: name, Body: body}
	}
	remote := own
	remote.Peer = from
	return Input{Doc: "Wholesale is a test.", Program: small("Wholesale",
		hostir.Post{Stream: mainRef, Semaphore: "ready", Kernel: true},
		loop(neighbour,
			kernel("get", ready, hostir.Set{Stream: mainRef, Dst: gathered, Src: remote}, read),
			kernel("put", hostir.Set{Stream: mainRef, Dst: hostir.View{Buffer: "Agathered", Index: hostir.Rank, Peer: from}, Src: own}, read)),
		hostir.Wait{Stream: mainRef, Semaphore: "read", Kernel: true},
		hostir.Set{Stream: mainRef, Dst: hostir.View{Buffer: "Agathered", Index: hostir.Rank}, Src: own, Kernel: true},
		sum,
		kernel("shot", hostir.Wait{Stream: mainRef, Semaphore: "read"}, sum))}
}

func TestKernelsFile(t *testing.T) {
	files := packages(t, wholesale())
	for _, name := range []string{"kernels.go", "wholesale.cu"} {
		golden := filepath.Join("testdata", "wholesale", name+".golden")
		got := files[path.Join("wholesale", name)]
		if *update {
			write(t, golden, got)
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-golden +emitted), go test -update if that is meant:\n%s", name, diff)
		}
	}
}

// TestTable: a kernel that waits, works and posts stands for its parts, and is made for what its
// launches signal and add up.
func TestTable(t *testing.T) {
	all := wholesale().Program.Body
	pick := func(nodes ...int) (list []hostir.Node) {
		for _, n := range nodes {
			list = append(list, all[n])
		}
		return list
	}
	const each, one = kernels.EachPeer, kernels.One
	var (
		wait   = kernels.Kernel{Kind: kernels.Wait, PreWait: each}
		post   = kernels.Kernel{Kind: kernels.Post, PostPost: each}
		plain  = kernels.Kernel{Kind: kernels.Copy}
		reduce = kernels.Kernel{Kind: kernels.Reduce, Terms: 2}
		get    = kernels.Kernel{Kind: kernels.Get, PreWait: one, PostPost: one}
		put    = kernels.Kernel{Kind: kernels.Put, PostPost: one}
		shot   = kernels.Kernel{Kind: kernels.Shot, PreWait: each, Terms: 2}
		second = kernels.Kernel{Kind: kernels.Get, Number: 2, PreWait: one}
	)
	early := all[1].(hostir.For).Body[1].(hostir.LaunchKernel)
	early.Body = early.Body[:2]
	for _, c := range []struct {
		body []hostir.Node
		want []kernels.Kernel
	}{
		{all, []kernels.Kernel{wait, post, plain, reduce, get, put, shot}},
		{pick(0), []kernels.Kernel{post}},
		{pick(1), []kernels.Kernel{get, put}},
		{append(pick(1), early), []kernels.Kernel{get, second, put}},
		{pick(4), []kernels.Kernel{reduce}},
		{pick(5), []kernels.Kernel{shot}},
		{nil, nil},
	} {
		u := &unit{program: small("Kinds", c.body...)}
		if diff := cmp.Diff(c.want, u.table().Kernels); diff != "" {
			t.Errorf("kernels (-want +got):\n%s", diff)
		}
	}
}

// The cost model counts the blocks that kernels are launched with.
func TestBlocksAreThoseOfTheModel(t *testing.T) {
	for _, name := range cost.Names() {
		m, err := cost.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		blocks := map[string]int{}
		for kind, n := range kernels.Blocks {
			blocks[string(kind)] = int(n)
		}
		if diff := cmp.Diff(blocks, m.Blocks); diff != "" {
			t.Errorf("%s (-launched +model):\n%s", name, diff)
		}
	}
}
