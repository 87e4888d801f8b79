package tables

import (
	"slices"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

const each, one = kernels.EachPeer, kernels.One

// all has a kernel of each kind, for 3 ranks.
var all = kernels.Table{Peers: 2, Types: []driver.Type{driver.BF16, driver.FP32}, Kernels: []kernels.Kernel{
	{Kind: kernels.Wait, PreWait: each},
	{Kind: kernels.Post, PostPost: each},
	{Kind: kernels.Copy},
	{Kind: kernels.Reduce, Terms: 2},
	{Kind: kernels.Get, PreWait: one, PostPost: one},
	{Kind: kernels.Get, Number: 2, PreWait: one},
	{Kind: kernels.Get, Number: 3, PreWait: one, PostPost: one, ByBlocks: true},
	{Kind: kernels.Shot, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 3, Varies: true},
	{Kind: kernels.Shot, Number: 2, PrePost: each, PreWait: each, Terms: 2, ByBlocks: true},
	{Kind: kernels.Gather, PreWait: each, Terms: 3, Varies: true, ByBlocks: true},
	{Kind: kernels.Packets, Terms: 3, Varies: true, ByBlocks: true},
	{Kind: kernels.Packets, Number: 2, Terms: 3, Varies: true, Added: 1, ByBlocks: true},
	{Kind: kernels.PacketGather, Terms: 3, Varies: true, ByBlocks: true},
	{Kind: kernels.PacketSpread, Terms: 2, Varies: true, Spread: 1, ByBlocks: true},
	{Kind: kernels.PacketSpread, Number: 2, Terms: 2, Varies: true, Added: 1, Spread: 1, ByBlocks: true},
	{Kind: kernels.PacketSpread, Number: 3, Terms: 2, Varies: true, Spread: 3, ByBlocks: true, Made: &kernels.Made{
		Key: "n", Word: "n", Operands: []kernels.Operand{{Lies: kernels.ByColumn}}, Numbers: 1}},
	{Kind: kernels.PacketRows, Terms: 2, Varies: true, Spread: 3, ByBlocks: true, Made: &kernels.Made{Key: "q",
		Word: "q", Type: driver.E4M3, Scales: driver.FP32}},
	{Kind: kernels.PacketRows, Number: 2, Terms: 2, Varies: true, Spread: 3, ByBlocks: true, Made: &kernels.Made{
		Key: "q", Word: "q", Type: driver.E4M3, Scales: driver.FP32},
		Finish: &kernels.Made{Key: "e", Word: "e", X: kernels.Operand{Type: driver.E4M3},
			Operands: []kernels.Operand{{Lies: kernels.ByRow, Type: driver.FP32}}}},
	{Kind: kernels.Push, Terms: 2, ByBlocks: true},
	{Kind: kernels.Elements, Made: &kernels.Made{Key: "a", Operands: []kernels.Operand{{Type: driver.FP32}},
		Type: driver.FP32}},
	{Kind: kernels.Elements, Number: 2, Made: &kernels.Made{Key: "b", Operands: []kernels.Operand{
		{Lies: kernels.ByColumn}, {Lies: kernels.ByRow}}}},
	{Kind: kernels.Groups, Made: &kernels.Made{Key: "c", Operands: []kernels.Operand{
		{Lies: kernels.ByColumn, Type: driver.FP32}}, Numbers: 2}},
	{Kind: kernels.Groups, Number: 2, Made: &kernels.Made{Key: "d", Operands: []kernels.Operand{
		{Lies: kernels.OfTable, Head: 2},
		{Lies: kernels.ByHead, Head: 1}}, Heads: 2, Group: 1, Turns: true}},
}}

// touched lists the touches of a launch.
func touched(t *testing.T, k driver.Kernel, params []uint64) []touch.Touch {
	t.Helper()
	f, err := touch.Of(&k)
	if err != nil {
		t.Fatal(err)
	}
	return f(unsafe.Pointer(&params[0]), nil)
}

// word, data, packets and flag are touches of a word, of bytes, of packets and of their flag.
func word(kind touch.Kind, at driver.Ptr, value uint32) touch.Touch {
	return touch.Touch{Kind: kind, At: at, Bytes: 4, Value: value}
}

func data(kind touch.Kind, at driver.Ptr, bytes int64, typ driver.Type) touch.Touch {
	return touch.Touch{Kind: kind, At: at, Bytes: bytes, Type: typ}
}

func packets(kind touch.Kind, at driver.Ptr, bytes int64, value uint32, turn driver.Ptr, typ driver.Type) touch.Touch {
	return touch.Touch{Kind: kind, At: at, Bytes: bytes, Value: value, Turn: turn, Half: 1024, Packets: true, Type: typ}
}

func flag(kind touch.Kind, at driver.Ptr, value uint32, turn driver.Ptr) touch.Touch {
	t := packets(kind, at, 4, value, turn, 0)
	t.Flag = true
	return t
}

// of gives touches the block that makes them.
func of(block int, list ...touch.Touch) []touch.Touch {
	for i := range list {
		list[i].Block = block
	}
	return list
}

const read, write, wait, post = touch.Read, touch.Write, touch.Wait, touch.Post

// launches are kernels with parameters, and what they touch.
var launches = []struct {
	name   string
	params []uint64
	want   []touch.Touch
}{
	{"wait", []uint64{100, 0, 1, 200, 7}, []touch.Touch{word(wait, 100, 1), word(write, 100, 0),
		word(write, 200, 7)}},
	{"post", []uint64{100, 104, 2}, []touch.Touch{word(post, 100, 1), word(post, 104, 1)}},
	{"post", []uint64{100, 104, 0}, nil},
	{"copy", []uint64{300, 400, 6}, []touch.Touch{data(read, 400, 6, 0), data(write, 300, 6, 0)}},
	{"reduce_bf16", []uint64{300, 3, 400, 500}, []touch.Touch{
		data(read, 400, 6, driver.BF16), data(read, 500, 6, driver.BF16), data(write, 300, 6, driver.BF16)}},
	{"get", []uint64{100, 104, 200, 7, 204, 300, 400, 6}, []touch.Touch{
		word(write, 204, 0), word(wait, 100, 1), data(read, 400, 6, 0), data(write, 300, 6, 0),
		word(write, 204, 0), word(write, 100, 0), word(write, 200, 7), word(post, 104, 1)}},
	{"shot_fp32", []uint64{100, 0, 110, 0, 120, 0, 130, 0, 1, 200, 7, 204, 300, 2, 2, 400, 500, 0}, []touch.Touch{
		word(write, 204, 0), word(post, 100, 1), word(wait, 110, 1),
		data(read, 400, 8, driver.FP32), data(read, 500, 8, driver.FP32), data(write, 300, 8, driver.FP32),
		word(write, 204, 0), word(write, 110, 0), word(write, 200, 7), word(post, 120, 1),
		word(wait, 130, 1), word(write, 130, 0), word(write, 200, 7)}},
	// By blocks, here two: words 12 bytes apart, parts of whole lines, the step noted by the first.
	{"get3", []uint64{100, 104, 200, 7, 3, 2, 300, 1000, 200}, slices.Concat(
		of(1, word(wait, 100, 1), data(read, 1000, 128, 0), data(write, 300, 128, 0), word(write, 100, 0),
			word(write, 200, 7), word(post, 104, 1)),
		of(2, word(wait, 112, 1), data(read, 1128, 72, 0), data(write, 428, 72, 0), word(write, 112, 0),
			word(post, 116, 1)))},
	{"gather", []uint64{100, 0, 1, 200, 7, 3, 2, 300, 200, 2, 1000, 2000, 0}, slices.Concat(
		of(1, word(wait, 100, 1), data(read, 1000, 128, 0), data(write, 300, 128, 0), data(read, 2000, 128, 0),
			data(write, 500, 128, 0), word(write, 100, 0), word(write, 200, 7)),
		of(2, word(wait, 112, 1), data(read, 1128, 72, 0), data(write, 428, 72, 0), data(read, 2128, 72, 0),
			data(write, 628, 72, 0), word(write, 112, 0)))},
	{"shot2_fp32", []uint64{100, 0, 110, 0, 1, 200, 7, 3, 2, 300, 40, 1000, 2000}, slices.Concat(
		of(1, word(post, 100, 1), word(wait, 110, 1), data(read, 1000, 128, driver.FP32),
			data(read, 2000, 128, driver.FP32), data(write, 300, 128, driver.FP32), word(write, 110, 0),
			word(write, 200, 7)),
		of(2, word(post, 112, 1), word(wait, 122, 1),
			data(read, 1128, 32, driver.FP32),
			data(read, 2128, 32, driver.FP32), data(write, 428, 32, driver.FP32), word(write, 122, 0)))},
	// Rank 1 of 2: packets lie as their data would, and the first of a block is their flag.
	{"packets_fp32", []uint64{200, 7, 2, 300, 40, 2, 1000, 2000, 0, 5000, 0, 0, 6000, 512, 1024, 8000, 1, 256},
		slices.Concat(
			of(1, data(read, 1000, 128, driver.FP32), packets(write, 5000, 128, 0, 8000, driver.FP32),
				flag(post, 5000, 1, 8000), flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000),
				word(write, 200, 7), packets(read, 6000, 128, 0, 8000, driver.FP32),
				data(read, 2000, 128, driver.FP32), data(write, 300, 128, driver.FP32)),
			of(2, data(read, 1128, 32, driver.FP32), packets(write, 5128, 32, 0, 8004, driver.FP32),
				flag(post, 5128, 1, 8004), flag(wait, 6128, 1, 8004), flag(write, 6128, 0, 8004),
				packets(read, 6128, 32, 0, 8004, driver.FP32),
				data(read, 2128, 32, driver.FP32), data(write, 428, 32, driver.FP32)))},
	{"packets2_fp32", []uint64{200, 7, 1, 300, 10, 2, 1000, 2000, 0, 5000, 0, 0, 6000, 512, 1024, 8000, 1, 256,
		3000},
		of(1, data(read, 1000, 40, driver.FP32), packets(write, 5000, 40, 0, 8000, driver.FP32),
			flag(post, 5000, 1, 8000), flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000), word(write, 200, 7),
			packets(read, 6000, 40, 0, 8000, driver.FP32), data(read, 2000, 40, driver.FP32),
			data(read, 3000, 40, driver.FP32), data(write, 300, 40, driver.FP32))},
	{"packetgather", []uint64{200, 7, 1, 300, 40, 2, 1000, 1000, 0, 5000, 0, 0, 6000, 512, 1024, 8000, 1, 256},
		of(1, data(read, 1000, 40, 0), packets(write, 5000, 40, 0, 8000, 0), flag(post, 5000, 1, 8000),
			flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000), word(write, 200, 7),
			packets(read, 6000, 40, 0, 8000, 0), data(write, 300, 40, 0), data(read, 1000, 40, 0),
			data(write, 340, 40, 0))},
	// Rank 1 of 2 sums the second part; the sums land 10000 bytes behind the parts, and have turns there.
	{"packetspread2_fp32", []uint64{200, 7, 1, 340, 10, 2, 1000, 2000, 5000, 0, 6000, 512, 1024, 8000, 1, 256,
		10000, 3000},
		of(1, data(read, 1000, 40, driver.FP32), packets(write, 5000, 40, 0, 8000, driver.FP32),
			flag(post, 5000, 1, 8000), flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000), word(write, 200, 7),
			packets(read, 6000, 40, 0, 8000, driver.FP32), data(read, 2000, 40, driver.FP32),
			data(read, 3000, 40, driver.FP32), data(write, 340, 40, driver.FP32),
			data(read, 340, 40, driver.FP32), packets(write, 15000, 40, 0, 18000, driver.FP32),
			flag(post, 15000, 1, 18000), flag(wait, 16000, 1, 18000), flag(write, 16000, 0, 18000),
			word(write, 200, 7), packets(read, 16000, 40, 0, 18000, driver.FP32),
			data(write, 300, 40, driver.FP32))},
	// It makes a norm of its rows of 5 columns, at 740, and sends both: 10000 and 20000 bytes behind the parts.
	{"packetspread3_fp32", []uint64{200, 7, 1, 340, 10, 2, 1000, 2000, 5000, 0, 6000, 512, 1024, 8000, 1, 256,
		10000, 20000, 4, 740, 900, 5, 7},
		of(1, data(read, 1000, 40, driver.FP32), packets(write, 5000, 40, 0, 8000, driver.FP32),
			flag(post, 5000, 1, 8000), flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000), word(write, 200, 7),
			packets(read, 6000, 40, 0, 8000, driver.FP32), data(read, 2000, 40, driver.FP32),
			data(write, 340, 40, driver.FP32),
			data(read, 340, 40, driver.FP32), packets(write, 15000, 40, 0, 18000, driver.FP32),
			flag(post, 15000, 1, 18000),
			data(read, 340, 40, driver.FP32), data(read, 900, 20, driver.FP32), data(write, 740, 40, driver.FP32),
			data(read, 740, 40, driver.FP32), packets(write, 25000, 40, 0, 28000, driver.FP32),
			flag(post, 25000, 1, 28000), flag(wait, 16000, 1, 18000), flag(write, 16000, 0, 18000),
			word(write, 200, 7), packets(read, 16000, 40, 0, 18000, driver.FP32), data(write, 300, 40, driver.FP32),
			flag(wait, 26000, 1, 28000), flag(write, 26000, 0, 28000),
			word(write, 200, 7), packets(read, 26000, 40, 0, 28000, driver.FP32),
			data(write, 700, 40, driver.FP32))},
	// Rank 1 of 2 makes codes, at 740, of two rows of 5 columns, and scales, at 900, and sends both.
	{"packetrows_fp32", []uint64{200, 7, 1, 1000, 10, 2, 4000, 6000, 1, 0, 512, 1024, 256, 5, 10, 300,
		10000, 128, 1024, 64, 4, 8, 700, 2, 740, 900, 5},
		of(1, data(read, 1000, 40, driver.FP32), data(write, 740, 10, driver.E4M3),
			data(write, 900, 8, driver.FP32),
			data(read, 740, 10, 0), packets(write, 4512, 10, 0, 8048, 0), flag(post, 4512, 1, 8048),
			data(read, 900, 8, 0), packets(write, 14128, 8, 0, 18048, 0), flag(post, 14128, 1, 18048),
			data(read, 740, 10, 0), data(write, 310, 10, 0), data(read, 900, 8, 0), data(write, 708, 8, 0),
			flag(wait, 6000, 1, 8048), flag(write, 6000, 0, 8048), word(write, 200, 7),
			packets(read, 6000, 10, 0, 8048, 0), data(write, 300, 10, 0),
			flag(wait, 16000, 1, 18048), flag(write, 16000, 0, 18048), word(write, 200, 7),
			packets(read, 16000, 8, 0, 18048, 0), data(write, 700, 8, 0))},
	// Rank 0 of 1 has the second of its blocks make one row of 5 columns, and widen it by its scale.
	{"packetrows2_fp32", []uint64{200, 7, 2, 1000, 10, 1, 6000, 0, 0, 0, 512, 1024, 256, 5, 10, 300,
		10000, 128, 1024, 64, 4, 8, 700, 2000, 10, 300, 700, 5, 1, 740, 900, 5},
		slices.Concat(
			of(1, data(read, 1000, 20, driver.FP32), data(write, 740, 5, driver.E4M3),
				data(write, 900, 4, driver.FP32), data(read, 740, 5, 0), data(write, 300, 5, 0),
				data(read, 900, 4, 0), data(write, 700, 4, 0), data(read, 300, 5, driver.E4M3),
				data(read, 700, 4, driver.FP32), data(write, 2000, 20, driver.FP32)),
			of(2, data(read, 1020, 20, driver.FP32), data(write, 745, 5, driver.E4M3),
				data(write, 904, 4, driver.FP32), data(read, 745, 5, 0), data(write, 305, 5, 0),
				data(read, 904, 4, 0), data(write, 704, 4, 0), data(read, 305, 5, driver.E4M3),
				data(read, 704, 4, driver.FP32), data(write, 2020, 20, driver.FP32)))},
	// Functions: as many elements of an operand as the result, its columns, its rows or its heads have.
	{"elements_bf16", []uint64{300, 6, 400, 500}, []touch.Touch{data(read, 400, 12, driver.BF16),
		data(read, 500, 24, driver.FP32), data(write, 300, 24, driver.FP32)}},
	{"elements2_bf16", []uint64{300, 6, 400, 500, 600, 3}, []touch.Touch{data(read, 400, 12, driver.BF16),
		data(read, 500, 6, driver.BF16), data(read, 600, 4, driver.BF16), data(write, 300, 12, driver.BF16)}},
	{"groups_bf16", []uint64{300, 2, 400, 500, 3, 7, 8}, []touch.Touch{data(read, 400, 12, driver.BF16),
		data(read, 500, 12, driver.FP32), data(write, 300, 12, driver.BF16)}},
	{"groups2_bf16", []uint64{300, 2, 400, 500, 600, 8, 4, 2}, []touch.Touch{data(read, 400, 32, driver.BF16),
		data(read, 500, 8, driver.BF16), data(read, 600, 8, driver.BF16), data(write, 300, 32, driver.BF16)}},
}

// TestTouches: what a launch touches is what its parameters say, in the order of the kernel.
func TestTouches(t *testing.T) {
	for _, c := range launches {
		list := all.Code()
		k := list[slices.IndexFunc(list, func(k driver.Kernel) bool { return k.Name == c.name })]
		if 8*len(c.params) != k.Params {
			t.Fatalf("%s takes %d bytes, and the test has %d", c.name, k.Params, 8*len(c.params))
		}
		if got := touched(t, k, c.params); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
		for _, x := range touched(t, k, make([]uint64, len(c.params))) {
			if x.Bytes != 0 {
				t.Errorf("%s touches %v in its first launch, which does nothing", c.name, x)
			}
		}
	}
}
