package kernels

import (
	"slices"
	"strings"
	"testing"

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
	{Kind: Packets, Number: 2, Terms: 3, Varies: true, Added: 1, ByBlocks: true},
	{Kind: PacketGather, Terms: 3, Varies: true, ByBlocks: true},
	{Kind: PacketSpread, Terms: 2, Varies: true, Spread: 1, ByBlocks: true},
	{Kind: PacketSpread, Number: 2, Terms: 2, Varies: true, Added: 1, Spread: 1, ByBlocks: true},
	{Kind: PacketSpread, Number: 3, Terms: 2, Varies: true, Spread: 3, ByBlocks: true, Made: &Made{Key: "n", Word: "n",
		Operands: []Operand{{Lies: ByColumn}}, Numbers: 1}},
	{Kind: PacketRows, Terms: 3, Varies: true, Spread: 3, ByBlocks: true, Made: &Made{Key: "q", Word: "q",
		Type: driver.E4M3, Scales: driver.FP32}},
	{Kind: PacketRows, Number: 2, Terms: 3, Varies: true, Spread: 3, ByBlocks: true, Made: &Made{Key: "q", Word: "q",
		Type: driver.E4M3, Scales: driver.FP32}, Finish: &Made{Key: "e", Word: "e",
		X: Operand{Type: driver.E4M3}, Operands: []Operand{{Lies: ByRow, Type: driver.FP32}}}},
	{Kind: Push, Terms: 2, ByBlocks: true},
	{Kind: Push, Number: 2, Terms: 2, Added: 2, ByBlocks: true, Finish: &Made{Key: "e", Word: "e",
		Operands: []Operand{{Lies: ByRow}, {}}, Numbers: 1}},
	{Kind: Elements, Made: &Made{Key: "a", Operands: []Operand{{Type: driver.FP32}}, Type: driver.FP32}},
	{Kind: Elements, Number: 2, Made: &Made{Key: "b", Operands: []Operand{{Lies: ByColumn}, {Lies: ByRow}}}},
	{Kind: Groups, Made: &Made{Key: "c", Operands: []Operand{{Lies: ByColumn, Type: driver.FP32}}, Numbers: 2}},
	{Kind: Groups, Number: 2, Made: &Made{Key: "d", Operands: []Operand{{Lies: OfTable, Head: 2},
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
		{"packetspread3_bf16", 3 + 3 + 2 + 2 + 8 + 2 + 1 + 2}, {"packetspread3_fp32", 3 + 3 + 2 + 2 + 8 + 2 + 1 + 2},
		{"packetrows_bf16", 3 + 3 + 3 + 1 + 14 + 2 + 2}, {"packetrows_fp32", 3 + 3 + 3 + 1 + 14 + 2 + 2},
		{"packetrows2_bf16", 3 + 3 + 3 + 1 + 14 + 5 + 2 + 2}, {"packetrows2_fp32", 3 + 3 + 3 + 1 + 14 + 5 + 2 + 2},
		{"push_bf16", 3 + 2 + 2 + 2 + 7}, {"push_fp32", 3 + 2 + 2 + 2 + 7},
		{"push2_bf16", 3 + 2 + 2 + 2 + 7 + 2 + 4}, {"push2_fp32", 3 + 2 + 2 + 2 + 7 + 2 + 4},
		{"elements_bf16", 2 + 2}, {"elements_fp32", 2 + 2},
		{"elements2_bf16", 2 + 3 + 1}, {"elements2_fp32", 2 + 3 + 1},
		{"groups_bf16", 2 + 2 + 1 + 2}, {"groups_fp32", 2 + 2 + 1 + 2},
		{"groups2_bf16", 2 + 3 + 1 + 2}, {"groups2_fp32", 2 + 3 + 1 + 2},
	}
	var got []kernel
	for _, k := range all.Code() {
		got = append(got, kernel{k.Name, k.Params / 8})
		byBlocks := slices.ContainsFunc([]string{"get3", "shot2_", "gather", "packet", "push"}, func(of string) bool {
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

// TestNarrow: a kernel that makes eight bits, first or last of several functions, needs the instruction for it.
func TestNarrow(t *testing.T) {
	for _, test := range []struct {
		made Made
		from int
	}{{Made{}, 0}, {Made{Type: driver.FP32}, 0}, {Made{Type: driver.E4M3}, 89},
		{Made{Then: []Made{{}, {Type: driver.E2M1}}}, 89}} {
		table := Table{Types: []driver.Type{driver.BF16}, Kernels: []Kernel{{Kind: Groups, Made: &test.made}}}
		if from := table.Code()[0].From; from != test.from {
			t.Errorf("%+v: from capability %d, want %d", test.made, from, test.from)
		}
	}
}

// TestRowGrid: blocks of whole rows have whole units of what they send: four packets of elements, and one of scales.
func TestRowGrid(t *testing.T) {
	one := Made{Type: driver.E4M3, Scales: driver.FP32}
	for _, test := range []struct {
		made                 Made
		spread               uint
		rows                 []uint64 // bytes of a row of each result that goes to all
		all, bytes           int64
		wantBlocks, wantEach int64
	}{
		{one, 0b11, []uint64{7168, 4}, 64, 14336, 64, 1},
		{one, 0b11, []uint64{8, 4}, 10, 16, 1, 256},
		{Made{Type: driver.E2M1, Scales: driver.E4M3}, 0b11, []uint64{8, 1}, 28672, 32, 128, 224},
		{Made{Type: driver.E2M1, Scales: driver.E4M3}, 0b11, []uint64{2048, 1}, 64, 8192, 16, 4},
		{Made{Type: driver.E2M1, Scales: driver.E4M3}, 0b01, []uint64{2048}, 64, 8192, 64, 1},
		{Made{Then: []Made{one}}, 0b110, []uint64{2056, 4}, 64, 4112, 32, 2},
		{Made{Then: []Made{one}}, 0b101, []uint64{4112, 4}, 64, 4112, 64, 1},
	} {
		k := kernel{Layout: Layout{Kernel: Kernel{Kind: PacketRows, Made: &test.made, Spread: test.spread}},
			params: make([]uint64, 2*GoingWords)}
		for i, row := range test.rows {
			k.params[i*GoingWords+GoingRow] = row
		}
		blocks, each := rowGrid(test.all, test.bytes, toAll{}.whole(&k))
		if int64(blocks) != test.wantBlocks || each != test.wantEach {
			t.Errorf("%d rows of %d bytes, sent as %d: %d blocks of %d, want %d of %d", test.all, test.bytes, test.rows,
				blocks, each, test.wantBlocks, test.wantEach)
		}
	}
}

// TestPacketGrid: each block has a part, no more of them than may wait for each other, and threads a unit each where
// there are enough, half as many by a function.
func TestPacketGrid(t *testing.T) {
	for bytes := int64(1); bytes < 4<<20; bytes = bytes*5/4 + 1 {
		for ends, most := range map[bool]int{false: 512, true: 256} {
			blocks, threads := packetGrid(bytes, ends)
			from, last := Part(bytes, int64(blocks)-1, int64(blocks))
			if blocks < 1 || blocks > plan.MostPacketBlocks || threads < 256 || threads > most || last < 1 ||
				from+last != bytes {
				t.Errorf("%d bytes: %d blocks of %d threads, the last with %d bytes from %d on", bytes, blocks,
					threads, last, from)
			}
		}
	}
}
