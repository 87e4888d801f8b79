package templates

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	s "ovgen/schedule"
)

// transport has every kernel of the transports, as packages have them: for 8 ranks and all types.
func transport() code { return check(transportList()...) }

func transportList() []kernels.Kernel {
	const each, one = kernels.EachPeer, kernels.One
	return []kernels.Kernel{
		{Kind: kernels.Wait, PreWait: each},
		{Kind: kernels.Post, PostPost: each},
		{Kind: kernels.Copy},
		{Kind: kernels.Reduce, Terms: 8, Varies: true},
		{Kind: kernels.Reduce, Number: 2, Terms: 2},
		{Kind: kernels.Reduce, Number: 3, Terms: 8, Varies: true, Finish: finish(s.Bias("Bias"), s.Add("R"))},
		{Kind: kernels.Reduce, Number: 4, Terms: 9, Varies: true},
		{Kind: kernels.Reduce, Number: 5, Terms: 64, Varies: true}, // over hosts
		{Kind: kernels.Reduce, Number: 6, Terms: 8, Varies: true, Finish: finish(s.Scale(.25), s.Add("R"))},
		{Kind: kernels.Widen, Terms: 8, Varies: true, Finish: biased()},
		{Kind: kernels.Get, PreWait: one, PostPost: one},
		{Kind: kernels.Get, Number: 2, PreWait: one, ByBlocks: true},
		{Kind: kernels.Put, PreWait: one, PostPost: one},
		{Kind: kernels.Shot, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 8, Varies: true},
		{Kind: kernels.Shot, Number: 2, PrePost: each, PreWait: each, Terms: 8, Varies: true},
		{Kind: kernels.Shot, Number: 3, PrePost: each, PreWait: each, PostPost: each, Terms: 8, Varies: true,
			ByBlocks: true},
		{Kind: kernels.Shot, Number: 4, PreWait: each, Terms: 8, Varies: true},
		{Kind: kernels.Shot, Number: 5, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 8,
			Varies: true, ByBlocks: true},
		{Kind: kernels.Shot, Number: 6, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 9,
			Varies: true}, // with a residual
		{Kind: kernels.Gather, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 8, Varies: true,
			ByBlocks: true},
		{Kind: kernels.Tiles, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 7, Bias: true,
			Tile: kernels.Tile{Columns: 112, Cluster: 2}},
		{Kind: kernels.Tiles, Number: 2, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 7,
			Bias: true, Tile: kernels.Tile{Columns: 128, Cluster: 1}},
		{Kind: kernels.Tiles, Number: 3, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 7,
			Bias: true, Tile: kernels.Tile{Columns: 176, Cluster: 2}},
		{Kind: kernels.Tiles, Number: 4, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 7,
			Bias: true, Tile: kernels.Tile{Columns: 224, Cluster: 2, Together: true}},
		{Kind: kernels.Scatter, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 7, ByBlocks: true,
			Tile: kernels.Tile{Columns: 128, Cluster: 1}},
		{Kind: kernels.Scatter, Number: 2, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 7,
			ByBlocks: true, Tile: kernels.Tile{Columns: 144, Cluster: 1}},
		{Kind: kernels.Scatter, Number: 3, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 7,
			ByBlocks: true, Tile: kernels.Tile{Columns: 256, Cluster: 1, Together: true}},
		{Kind: kernels.Packets, Terms: 8, Varies: true, ByBlocks: true},
		{Kind: kernels.Packets, Number: 2, Terms: 8, Varies: true, Added: 1, ByBlocks: true},
		{Kind: kernels.PacketGather, Terms: 8, Varies: true, ByBlocks: true},
		{Kind: kernels.PacketSpread, Terms: 8, Varies: true, Spread: 1, ByBlocks: true},
		{Kind: kernels.Push, Terms: 8, Varies: true, ByBlocks: true},
	}
}

// ownKernels are those of calls that tests have.
func ownKernels(t *testing.T) Own {
	text, err := os.ReadFile("testdata/own.cu")
	if err != nil {
		t.Fatal(err)
	}
	return Own{Name: "own.cu", Text: string(text)}
}

// totals is a call that adds up over its block, time after time.
var totals = Call{Call: kernels.Call{Name: "Total", Operands: 1}, File: "own.cu", Function: "totalled", Out: "O",
	In: []string{"X"}, Threads: 32}

// functionKernels has the kernels of formulas, and of calls.
func functionKernels(t *testing.T) code {
	d := device(slices.DeleteFunc(every(), func(k kernels.Kernel) bool { return k.Kind.Work() != kernels.Applies })...)
	d.Own = []Own{ownKernels(t), attention(t)}
	d.Calls = []Call{
		{Call: kernels.Call{Name: "Scale", Operands: 2, Args: 2}, File: "own.cu", Function: "scaled", Out: "O",
			In: []string{"X", "From"}, Threads: 32},
		{Call: kernels.Call{Name: "Count", Operands: 1}, File: "own.cu", Function: "counted", Out: "O",
			In: []string{"X"}, Threads: 32},
		totals,
		attentionCall,
	}
	return d.checked()
}

// ofRanks has what ranks run at the same time: kernels of each kind, and of a call.
func ofRanks(t *testing.T) tested {
	d := device(every()...)
	d.FewRows = allFewRows
	d.Own, d.Calls = []Own{ownKernels(t)}, []Call{totals}
	return d
}

// made are formulas of kernels.
var made = []Formula{
	{Trees: []s.Expr{s.SwiGLU("Up").Tree()}}, {Trees: []s.Expr{s.Bias("Bias").Tree()}},
	{Trees: []s.Expr{s.X}, Types: fp32("")},
	{Trees: []s.Expr{s.RMSNorm("N").Tree(), s.Add("R").Tree()}}, {Trees: []s.Expr{s.Rotary("T").Tree()}},
}

// codes are the formulas' codes by their words.
var codes = map[string]*Code{}

// biased is the function of sums that adds a row.
func biased() *kernels.Made { return finish(s.Bias("Bias")) }

// more is a function of sums with an operand that lies in each way.
func more() *kernels.Made {
	return finish(s.Func{Is: s.Plus(s.Plus(s.Times(s.X, s.Column("S")), s.Of("U")), s.Row("Bias"))})
}

// finish is functions of each element of a sum.
func finish(list ...s.Func) *kernels.Made {
	of := Formula{}
	for _, f := range list {
		of.Trees = append(of.Trees, f.Tree())
	}
	m, code, err := of.Finish()
	if err != nil {
		panic(err)
	}
	m.Word = "finish " + of.String()
	codes[m.Word] = code
	return &m
}

// every has kernels of each kind, as packages list them: those of the transports, and where there are none the plain
// one of its work.
func every() (all []kernels.Kernel) {
	list, numbers := []kernels.Kernel{}, map[kernels.Kind]int{}
	for _, f := range made {
		f.Width = width
		k, code, err := f.Kernel()
		if err != nil {
			panic(err)
		}
		numbers[k.Kind]++
		k.Number = numbers[k.Kind]
		k.Made.Word = f.String()
		list, codes[k.Made.Word] = append(list, k), code
	}
	list = append(list, sentRows()...)
	for _, kind := range kernels.Kinds() {
		of := slices.DeleteFunc(append(transportList(), list...), func(k kernels.Kernel) bool { return k.Kind != kind })
		if len(of) == 0 {
			of = append(of, plain(kind))
		}
		all = append(all, of...)
		switch k := of[0]; kind {
		case kernels.Tiles: // and those without a bias
			for i, k := range of {
				k.Number, k.Bias = len(of)+1+i, false
				all = append(all, k)
			}
		case kernels.Scatter: // and one with a bias, and for each tile one that adds a tensor
			k.Number, k.Finish = 4, biased()
			all = append(all, k)
			for i, k := range of {
				k.Number, k.Added = 5+i, 1
				all = append(all, k)
			}
		case kernels.Push, kernels.PacketSpread: // and one that adds a tensor, and one that ends with more
			k.Number, k.Added = 2, 1
			all = append(all, k)
			k.Number, k.Finish = 3, more()
			if all = append(all, k); kind == kernels.PacketSpread { // and ones whose owners make norms of rows
				both, last := normed(of[0], 4, true), normed(of[0], 5, false, Formula{Trees: []s.Expr{
					s.RMSNorm("N2").Tree()}})
				norm := normed(of[0], 6, true)
				both.Spread, last.Spread, norm.Spread = 0b11, 0b110, 0b10
				all = append(all, both, last, norm)
			}
		case kernels.Packets: // and one that makes a norm of its sum, and ones that go on from that
			all = append(all, normed(k, 3, true), normed(k, 4, false, Formula{Trees: []s.Expr{s.RMSNorm("N2").Tree()}}),
				normed(k, 5, true, Formula{Trees: []s.Expr{s.Quantise().Tree()}, Result: driver.E4M3,
					Scales: driver.FP32}))
			k.Number, k.Added, k.Finish = 6, 1, more() // and one that ends with more
			all = append(all, k)
		}
	}
	return all
}

// normed is a kernel of packets that makes a norm of rows of the sum, to which it adds a tensor, or adds that to the
// norm; and goes on from what it has then.
func normed(k kernels.Kernel, number int, added bool, then ...Formula) kernels.Kernel {
	f := Formula{Trees: []s.Expr{s.RMSNorm("N").Tree()}, Width: width, Then: then}
	if !added {
		f.Trees = append(f.Trees, s.Add("R").Tree())
	}
	of, code, err := f.Kernel()
	if err != nil {
		panic(err)
	}
	if k.Number, k.Made = number, of.Made; added {
		k.Added = 1
	}
	k.Made.Word = fmt.Sprint(f, number) // apart from the same formulas behind other work
	codes[k.Made.Word] = code
	return k
}

// sentRows are kernels that make rows and send them: codes with their scales, behind a norm that goes too, and codes of
// four bits with scales of a byte. The first and the last one widen the codes of all ranks.
func sentRows() (list []kernels.Kernel) {
	widen := func(codes, scales driver.Type) Formula {
		return Formula{Trees: []s.Expr{s.Dequantise("S").Tree()}, Types: map[string]driver.Type{"": codes, "S": scales}}
	}
	behind := []Formula{widen(driver.E4M3, driver.FP32), {}, widen(driver.E2M1, driver.UE8M0)}
	quantise := Formula{Trees: []s.Expr{s.Quantise().Tree()}, Result: driver.E4M3, Scales: driver.FP32}
	four := Formula{Trees: []s.Expr{s.QuantiseMXFP4().Tree()}, Result: driver.E2M1, Scales: driver.UE8M0}
	normed := Formula{Trees: []s.Expr{s.RMSNorm("N").Tree()}, Width: width, Then: []Formula{quantise}}
	for i, f := range []Formula{quantise, normed, four} {
		k, code, err := f.Kernel()
		if err != nil {
			panic(err)
		}
		k.Made.Word = fmt.Sprint(f, " sent ", i+1)
		codes[k.Made.Word] = code
		sent := kernels.Kernel{Kind: kernels.PacketRows, Number: i + 1, Terms: 8, Varies: true, ByBlocks: true,
			Made: k.Made, Spread: uint(1)<<(2+len(f.Then)) - 1}
		if len(behind[i].Trees) > 0 {
			k, code, err := behind[i].Kernel()
			if err != nil {
				panic(err)
			}
			k.Made.Word = fmt.Sprint(behind[i], " of all ", i+1)
			sent.Finish, codes[k.Made.Word] = k.Made, code
		}
		list = append(list, sent)
	}
	return list
}

// plain is a kernel without words.
func plain(kind kernels.Kind) kernels.Kernel {
	k := kernels.Kernel{Kind: kind}
	if kind.Work() == kernels.Sums {
		k.Terms, k.Varies = 8, true
	}
	return k
}
