package kernels

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// all has a kernel of each kind, for 3 ranks.
var all = Table{Peers: 2, Types: []driver.Type{driver.BF16, driver.FP32}, Kernels: []Kernel{
	{Kind: Wait, PreWait: EachPeer},
	{Kind: Post, PostPost: EachPeer},
	{Kind: Copy},
	{Kind: Reduce, Terms: 2},
	{Kind: Get, PreWait: One, PostPost: One},
	{Kind: Get, Number: 2, PreWait: One},
	{Kind: Get, Number: 3, PreWait: One, PostPost: One, ByBlocks: true},
	{Kind: Shot, PrePost: EachPeer, PreWait: EachPeer, PostPost: EachPeer, PostWait: EachPeer, Terms: 3, Varies: true},
	{Kind: Shot, Number: 2, PrePost: EachPeer, PreWait: EachPeer, Terms: 2, ByBlocks: true},
	{Kind: Gather, PreWait: EachPeer, Terms: 3, Varies: true, ByBlocks: true},
	{Kind: Packets, Terms: 3, Varies: true, ByBlocks: true},
	{Kind: Packets, Number: 2, Terms: 3, Varies: true, Added: true, ByBlocks: true},
	{Kind: PacketGather, Terms: 3, Varies: true, ByBlocks: true},
	{Kind: PacketSpread, Terms: 2, Varies: true, ByBlocks: true},
	{Kind: PacketSpread, Number: 2, Terms: 2, Varies: true, Added: true, ByBlocks: true},
	{Kind: Push, Terms: 2, ByBlocks: true},
	{Kind: Elements, Made: &Made{Key: "a", Operands: []Operand{{}, {FP32: true}}, FP32: true}},
	{Kind: Elements, Number: 2, Made: &Made{Key: "b", Operands: []Operand{{}, {Lies: ByColumn}, {Lies: ByRow}}}},
	{Kind: Groups, Made: &Made{Key: "c", Operands: []Operand{{}, {Lies: ByColumn, FP32: true}}, Numbers: 2}},
	{Kind: Groups, Number: 2, Made: &Made{Key: "d", Operands: []Operand{{}, {Lies: OfTable, Head: 2},
		{Lies: ByHead, Head: 1}}, Heads: 2, Group: 1, Turns: true}},
}}

// TestCode: sums have a kernel for each element type, parameters are of 8 bytes each, and kernels whose blocks wait
// for the peers' need a device that runs them side by side.
func TestCode(t *testing.T) {
	type kernel struct {
		name  string
		words int
	}
	want := []kernel{
		{"wait", 2 + 1 + 2}, {"post", 2 + 1}, {"copy", 3},
		{"reduce_bf16", 2 + 2}, {"reduce_fp32", 2 + 2},
		{"get", 2 + 2 + 1 + 3}, {"get2", 1 + 2 + 1 + 3},
		{"get3", 2 + 2 + 2 + 3}, {"shot_bf16", 8 + 1 + 2 + 1 + 3 + 3}, {"shot_fp32", 8 + 1 + 2 + 1 + 3 + 3},
		{"shot2_bf16", 4 + 1 + 2 + 2 + 2 + 2}, {"shot2_fp32", 4 + 1 + 2 + 2 + 2 + 2},
		{"gather", 2 + 1 + 2 + 2 + 3 + 3},
		{"packets_bf16", 3 + 3 + 3 + 3 + 6}, {"packets_fp32", 3 + 3 + 3 + 3 + 6},
		{"packets2_bf16", 3 + 3 + 3 + 3 + 7}, {"packets2_fp32", 3 + 3 + 3 + 3 + 7},
		{"packetgather", 3 + 3 + 3 + 3 + 6},
		{"packetspread_bf16", 3 + 3 + 2 + 2 + 7}, {"packetspread_fp32", 3 + 3 + 2 + 2 + 7},
		{"packetspread2_bf16", 3 + 3 + 2 + 2 + 8}, {"packetspread2_fp32", 3 + 3 + 2 + 2 + 8},
		{"push_bf16", 3 + 2 + 2 + 2 + 7}, {"push_fp32", 3 + 2 + 2 + 2 + 7},
		{"elements_bf16", 2 + 2}, {"elements_fp32", 2 + 2},
		{"elements2_bf16", 2 + 3 + 1}, {"elements2_fp32", 2 + 3 + 1},
		{"groups_bf16", 2 + 2 + 1 + 2}, {"groups_fp32", 2 + 2 + 1 + 2},
		{"groups2_bf16", 2 + 3 + 1 + 2}, {"groups2_fp32", 2 + 3 + 1 + 2},
	}
	var got []kernel
	for _, k := range all.Code() {
		got = append(got, kernel{k.Name, k.Params / 8})
		byBlocks := slices.ContainsFunc([]string{"get3", "shot2_", "gather", "packet", "push_"}, func(of string) bool {
			return strings.HasPrefix(k.Name, of)
		})
		blocks := 0
		switch {
		case strings.HasPrefix(k.Name, "packet"), strings.HasPrefix(k.Name, "push"):
			blocks = plan.MostPacketBlocks
		case byBlocks:
			blocks = plan.MostBlocks
		}
		if needs := k.Multiprocessors == plan.MostBlocks; needs != byBlocks || k.Blocks != blocks ||
			byBlocks && k.Threads != 512 {
			t.Errorf("%s needs %d multiprocessors, and room for %d blocks of %d threads; its blocks wait side by "+
				"side: %t", k.Name, k.Multiprocessors, k.Blocks, k.Threads, byBlocks)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestTouches: what a launch touches is what its parameters say, in the order of the kernel.
func TestTouches(t *testing.T) {
	word := func(kind driver.TouchKind, at driver.Ptr, value uint32) driver.Touch {
		return driver.Touch{Kind: kind, At: at, Bytes: 4, Value: value}
	}
	data := func(kind driver.TouchKind, at driver.Ptr, bytes int64, typ driver.Type) driver.Touch {
		return driver.Touch{Kind: kind, At: at, Bytes: bytes, Type: typ}
	}
	of := func(block int, list ...driver.Touch) []driver.Touch {
		for i := range list {
			list[i].Block = block
		}
		return list
	}
	landed := func(kind driver.TouchKind, at driver.Ptr, bytes int64, value uint32, turn driver.Ptr,
		typ driver.Type) driver.Touch {
		return driver.Touch{Kind: kind, At: at, Bytes: bytes, Value: value, Turn: turn, Half: 1024, Packets: true,
			Type: typ}
	}
	flag := func(kind driver.TouchKind, at driver.Ptr, value uint32, turn driver.Ptr) driver.Touch {
		t := landed(kind, at, 4, value, turn, 0)
		t.Flag = true
		return t
	}
	const read, write, wait, post = driver.TouchRead, driver.TouchWrite, driver.TouchWait, driver.TouchPost
	for _, c := range []struct {
		name   string
		params []uint64
		want   []driver.Touch
	}{
		{"wait", []uint64{100, 0, 1, 200, 7}, []driver.Touch{word(wait, 100, 1), word(write, 100, 0),
			word(write, 200, 7)}},
		{"post", []uint64{100, 104, 2}, []driver.Touch{word(post, 100, 1), word(post, 104, 1)}},
		{"post", []uint64{100, 104, 0}, nil},
		{"copy", []uint64{300, 400, 6}, []driver.Touch{data(read, 400, 6, 0), data(write, 300, 6, 0)}},
		{"reduce_bf16", []uint64{300, 3, 400, 500}, []driver.Touch{
			data(read, 400, 6, driver.BF16), data(read, 500, 6, driver.BF16), data(write, 300, 6, driver.BF16)}},
		{"get", []uint64{100, 104, 200, 7, 204, 300, 400, 6}, []driver.Touch{
			word(write, 204, 0), word(wait, 100, 1), data(read, 400, 6, 0), data(write, 300, 6, 0),
			word(write, 204, 0), word(write, 100, 0), word(write, 200, 7), word(post, 104, 1)}},
		{"shot_fp32", []uint64{100, 0, 110, 0, 120, 0, 130, 0, 1, 200, 7, 204, 300, 2, 2, 400, 500, 0}, []driver.Touch{
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
				of(1, data(read, 1000, 128, driver.FP32), landed(write, 5000, 128, 0, 8000, driver.FP32),
					flag(post, 5000, 1, 8000), flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000),
					word(write, 200, 7), landed(read, 6000, 128, 0, 8000, driver.FP32),
					data(read, 2000, 128, driver.FP32), data(write, 300, 128, driver.FP32)),
				of(2, data(read, 1128, 32, driver.FP32), landed(write, 5128, 32, 0, 8004, driver.FP32),
					flag(post, 5128, 1, 8004), flag(wait, 6128, 1, 8004), flag(write, 6128, 0, 8004),
					landed(read, 6128, 32, 0, 8004, driver.FP32),
					data(read, 2128, 32, driver.FP32), data(write, 428, 32, driver.FP32)))},
		{"packets2_fp32", []uint64{200, 7, 1, 300, 10, 2, 1000, 2000, 0, 5000, 0, 0, 6000, 512, 1024, 8000, 1, 256,
			3000},
			of(1, data(read, 1000, 40, driver.FP32), landed(write, 5000, 40, 0, 8000, driver.FP32),
				flag(post, 5000, 1, 8000), flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000), word(write, 200, 7),
				landed(read, 6000, 40, 0, 8000, driver.FP32), data(read, 2000, 40, driver.FP32),
				data(read, 3000, 40, driver.FP32), data(write, 300, 40, driver.FP32))},
		{"packetgather", []uint64{200, 7, 1, 300, 40, 2, 1000, 1000, 0, 5000, 0, 0, 6000, 512, 1024, 8000, 1, 256},
			of(1, data(read, 1000, 40, 0), landed(write, 5000, 40, 0, 8000, 0), flag(post, 5000, 1, 8000),
				flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000), word(write, 200, 7),
				landed(read, 6000, 40, 0, 8000, 0), data(write, 300, 40, 0), data(read, 1000, 40, 0),
				data(write, 340, 40, 0))},
		// Rank 1 of 2 sums the second part; the sums land 10000 bytes behind the parts, and have turns there.
		{"packetspread2_fp32", []uint64{200, 7, 1, 300, 10, 2, 1000, 2000, 5000, 0, 6000, 512, 1024, 8000, 1, 256,
			10000, 3000},
			of(1, data(read, 1000, 40, driver.FP32), landed(write, 5000, 40, 0, 8000, driver.FP32),
				flag(post, 5000, 1, 8000), flag(wait, 6000, 1, 8000), flag(write, 6000, 0, 8000), word(write, 200, 7),
				landed(read, 6000, 40, 0, 8000, driver.FP32), data(read, 2000, 40, driver.FP32),
				data(read, 3000, 40, driver.FP32), data(write, 340, 40, driver.FP32),
				data(read, 340, 40, driver.FP32), landed(write, 15000, 40, 0, 18000, driver.FP32),
				flag(post, 15000, 1, 18000), flag(wait, 16000, 1, 18000), flag(write, 16000, 0, 18000),
				word(write, 200, 7), landed(read, 16000, 40, 0, 18000, driver.FP32),
				data(write, 300, 40, driver.FP32))},
		// Functions: as many elements of an operand as the result, its columns, its rows or its heads have.
		{"elements_bf16", []uint64{300, 6, 400, 500}, []driver.Touch{data(read, 400, 12, driver.BF16),
			data(read, 500, 24, driver.FP32), data(write, 300, 24, driver.FP32)}},
		{"elements2_bf16", []uint64{300, 6, 400, 500, 600, 3}, []driver.Touch{data(read, 400, 12, driver.BF16),
			data(read, 500, 6, driver.BF16), data(read, 600, 4, driver.BF16), data(write, 300, 12, driver.BF16)}},
		{"groups_bf16", []uint64{300, 2, 400, 500, 3, 7, 8}, []driver.Touch{data(read, 400, 12, driver.BF16),
			data(read, 500, 12, driver.FP32), data(write, 300, 12, driver.BF16)}},
		{"groups2_bf16", []uint64{300, 2, 400, 500, 600, 8, 4, 2}, []driver.Touch{data(read, 400, 32, driver.BF16),
			data(read, 500, 8, driver.BF16), data(read, 600, 8, driver.BF16), data(write, 300, 32, driver.BF16)}},
	} {
		list := all.Code()
		k := list[slices.IndexFunc(list, func(k driver.Kernel) bool { return k.Name == c.name })]
		if 8*len(c.params) != k.Params {
			t.Fatalf("%s takes %d bytes, and the test has %d", c.name, k.Params, 8*len(c.params))
		}
		if got := k.Touches(unsafe.Pointer(&c.params[0]), nil); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
		for _, touch := range k.Touches(unsafe.Pointer(&make([]uint64, len(c.params))[0]), nil) {
			if touch.Bytes != 0 {
				t.Errorf("%s touches %v in its first launch, which does nothing", c.name, touch)
			}
		}
	}
}

// TestPacketGrid: each block has a part, no more of them than may wait for each other, and threads a unit each where
// there are enough.
func TestPacketGrid(t *testing.T) {
	for bytes := int64(1); bytes < 4<<20; bytes = bytes*5/4 + 1 {
		blocks, threads := packetGrid(bytes)
		from, last := part(bytes, int64(blocks)-1, int64(blocks))
		if blocks < 1 || blocks > plan.MostPacketBlocks || threads < 256 || threads > 512 || last < 1 ||
			from+last != bytes {
			t.Errorf("%d bytes: %d blocks of %d threads, the last with %d bytes from %d on", bytes, blocks, threads,
				last, from)
		}
	}
}
