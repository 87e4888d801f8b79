package emit

import (
	"path"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
)

// wholesale launches every kind of kernel.
func wholesale() Input {
	own, gathered := hostir.Whole("A"), hostir.Chunk("Agathered", from)
	slots := []hostir.View{hostir.Chunk("slots", hostir.Const(0)), hostir.Chunk("slots", hostir.Const(1))}
	sum := hostir.Reduce(mainRef, hostir.Chunk("C", hostir.Rank), slots...)
	ready, read := hostir.Wait(mainRef, "ready", from), hostir.Post(mainRef, "read", from)
	kernel := func(name string, body ...hostir.Step) hostir.Node {
		return hostir.Fuse(name, body...)
	}
	remote := own
	remote.Peer = from
	return Input{Doc: "Wholesale is a test.", Program: small("Wholesale",
		byKernel(hostir.Post(mainRef, "ready", hostir.Every)),
		loop(neighbour,
			kernel("get", ready, hostir.Set(mainRef, gathered, remote), read),
			kernel("put", hostir.Set(mainRef, hostir.View{Buffer: "Agathered", Index: hostir.Rank, Peer: from}, own),
				read)),
		byKernel(hostir.Wait(mainRef, "read", hostir.Every)),
		byKernel(hostir.Set(mainRef, hostir.Chunk("Agathered", hostir.Rank), own)),
		sum,
		kernel("shot", hostir.Wait(mainRef, "read", hostir.Every), sum))}
}

func TestKernelsFile(t *testing.T) {
	files := packages(t, wholesale())
	for _, name := range []string{"kernels.go", "wholesale.cu"} {
		compare(t, filepath.Join("testdata", "wholesale", name+".golden"), files[path.Join("wholesale", name)])
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
	early := all[1].(hostir.For).Body[1].(hostir.Step)
	early.Post = nil
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
		got, err := u.table()
		if diff := cmp.Diff(c.want, got.Kernels); diff != "" || err != nil {
			t.Errorf("kernels (-want +got), error %v:\n%s", err, diff)
		}
	}
}

// TestLimited: words and terms for each rank are of the ranks that a kernel was made for; one that has neither serves
// any number.
func TestLimited(t *testing.T) {
	const each, one = kernels.EachPeer, kernels.One
	for _, c := range []struct {
		kernel kernels.Kernel
		want   bool
	}{
		{kernels.Kernel{Kind: kernels.Wait, PreWait: each}, true},
		{kernels.Kernel{Kind: kernels.Post, PostPost: each}, true},
		{kernels.Kernel{Kind: kernels.Copy}, false},
		{kernels.Kernel{Kind: kernels.Reduce, Terms: 2}, false},
		{kernels.Kernel{Kind: kernels.Reduce, Terms: 8, Varies: true}, true},
		{kernels.Kernel{Kind: kernels.Get, PreWait: one, PostPost: one}, false},
		{kernels.Kernel{Kind: kernels.Put, PreWait: one, PostPost: each}, true},
		{kernels.Kernel{Kind: kernels.Elements, Made: &kernels.Made{}}, false},
		{kernels.Kernel{Kind: kernels.Groups, Made: &kernels.Made{}}, false},
	} {
		u := &unit{kernels: kernels.Table{Kernels: []kernels.Kernel{c.kernel}}}
		if got := u.limited(); got != c.want {
			t.Errorf("%+v: limited %v, want %v", c.kernel, got, c.want)
		}
	}
}
