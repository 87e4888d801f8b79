package emit

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule/hostir"
	"ovgen/verify/cost"
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
	for _, name := range []string{"kernels.go", "wholesale.h"} {
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

// TestKinds: a kernel that waits, works and posts stands for its parts.
func TestKinds(t *testing.T) {
	all := wholesale().Program.Body
	pick := func(nodes ...int) (list []hostir.Node) {
		for _, n := range nodes {
			list = append(list, all[n])
		}
		return list
	}
	for _, c := range []struct {
		body []hostir.Node
		want []string
	}{
		{all, allKinds},
		{pick(0), []string{postKernel}},
		{pick(1), []string{getKernel, putKernel}},
		{pick(4), []string{reduceKernel}},
		{pick(5), []string{shotKernel}},
		{nil, []string{}},
	} {
		u := &unit{program: small("Kinds", c.body...)}
		if got := u.kinds(); !slices.Equal(got, c.want) {
			t.Errorf("kernels %v, want %v", got, c.want)
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
		for _, x := range most {
			for _, kind := range x.kinds {
				blocks[kind] = x.blocks
			}
		}
		if diff := cmp.Diff(blocks, m.Blocks); diff != "" {
			t.Errorf("%s (-emitted +model):\n%s", name, diff)
		}
	}
}
