package record

import (
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/plan"
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// tileTouches is what a kernel of tiles touches on rank 0 of 2: its beginning, the parts of its own shard and of the
// other, and its end.
func tileTouches() (list []touch.Touch) {
	const read, write, wait, post = touch.Read, touch.Write, touch.Wait, touch.Post
	for block, touches := range [][]touch.Touch{
		{{Kind: write, At: 9000}, {Kind: post, At: 8192, Value: 1}},
		{{Kind: read, At: 4096, Bytes: 16}, {Kind: read, At: 5000, Bytes: 8}, {Kind: write, At: 6000, Bytes: 32}},
		{{Kind: wait, At: 8196, Value: 1}, {Kind: read, At: 4112, Bytes: 16}, {Kind: write, At: 4128, Bytes: 16},
			{Kind: write, At: 8196}, {Kind: post, At: 8200, Value: 1}, {Kind: read, At: 4128, Bytes: 16},
			{Kind: read, At: 5000, Bytes: 8}, {Kind: write, At: 6032, Bytes: 32}},
		{{Kind: write, At: 9000}, {Kind: wait, At: 8204, Value: 1}, {Kind: write, At: 8204},
			{Kind: write, At: 9100, Value: 1}},
	} {
		for _, t := range touches {
			if t.Block = block; t.Bytes == 0 {
				t.Bytes = 4
			} else {
				t.Type = driver.FP16
			}
			list = append(list, t)
		}
	}
	return list
}

// TestAtOnce: blocks that must run at the same time are no more than multiprocessors.
func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		grid uint32
		want string
	}{{132, "it waits for 1 words and resets 0"}, {133, "133 have no room on 132 multiprocessors"}} {
		l := touched("scatter_fp16", driver.Dim3{X: c.grid, Y: 1, Z: 1}, driver.Dim3{X: tileThreads, Y: 1, Z: 1},
			touch.Touch{Kind: touch.Wait, At: 8192, Bytes: 4, Value: 1})
		names := Names{Regions: []plan.Region{{Name: "ready", Base: 8192, Bytes: 64}}}
		if _, err := l.operations(&names, ops.Op{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d blocks: %v, want %q", c.grid, err, c.want)
		}
	}
}

// TestTiles: a launch of tiles is recorded part by part, and refused where a part is none.
func TestTiles(t *testing.T) {
	names := Names{Type: driver.FP16, Regions: []plan.Region{{Name: "A", Base: 4096, Bytes: 64},
		{Name: "B", Base: 5000, Bytes: 8}, {Name: "C", Base: 6000, Bytes: 64}, {Name: "ready", Base: 8192, Bytes: 64},
		{Name: "count[main]", Base: 9000, Bytes: 4}, {Name: "count[work]", Base: 9004, Bytes: 4},
		{Name: "step[main]", Base: 9100, Bytes: 4}}}
	const recorded = `
main: signal by kernel tiles counting in count[main]@0+0: ready@0+0 = 1
main: product linear by kernel tiles part 1: read A@0+0 16B, read B@0+0 8B, write C@0+0 32B
main: signal by kernel tiles part 2: ready@0+4 == 1, ready@0+4 = 0
main: copy by kernel tiles part 2: read A@0+16 16B, write A@0+32 16B
main: signal by kernel tiles part 2: ready@0+8 = 1
main: product linear by kernel tiles part 2: read A@0+32 16B, read B@0+0 8B, write C@0+32 32B
main: signal by kernel tiles counting in count[main]@0+0: ready@0+12 == 1, ready@0+12 = 0, step[main]@0+0 = 1
`
	for _, c := range []struct {
		name         string
		grid, thread uint32
		edit         func(l []touch.Touch) []touch.Touch
		want         string // of the error
	}{
		{"right", 4, 384, nil, ""},
		{"no reset", 4, 384, func(l []touch.Touch) []touch.Touch { return slices.Delete(l, 8, 9) }, "resets 0"},
		{"no result", 4, 384, func(l []touch.Touch) []touch.Touch { return slices.Delete(l, 4, 5) }, "no results"},
		{"another type", 4, 384, func(l []touch.Touch) []touch.Touch {
			l[4].Type = driver.BF16
			return l
		}, "a product of bf16 in a plan of fp16"},
		{"two count words", 4, 384, func(l []touch.Touch) []touch.Touch {
			l[13].At = 9004
			return slices.Insert(l, 1, touch.Touch{Kind: touch.Write, At: 9004, Bytes: 4})
		}, "it counts in count[main]@0+0 and in count[work]@0+0"},
		{"foreign memory", 4, 384, func(l []touch.Touch) []touch.Touch {
			l[6].At = 1 << 40
			return l
		}, "part 2: address 0x10000000000 lies in no buffer"},
		{"half a cluster", 3, 384, nil, "whole clusters"},
		{"fewer threads", 4, 128, nil, "384 threads"},
	} {
		touches := tileTouches()
		if c.edit != nil {
			touches = c.edit(touches)
		}
		l := touched("tiles_fp16", driver.Dim3{X: c.grid, Y: 1, Z: 1}, driver.Dim3{X: c.thread, Y: 1, Z: 1}, touches...)
		l.kernel.Cluster = 2
		list, err := l.operations(&names, ops.Op{Kind: ops.Signal, Stream: "main"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil && "\n"+ops.Lines(list) != recorded {
			t.Errorf("recorded\n%s, want%s", ops.Lines(list), recorded)
		}
	}
}

// TestFewThreads: a kernel of few rows has as many threads as its kind needs, and whole clusters.
func TestFewThreads(t *testing.T) {
	for _, c := range []struct {
		boxes        bool
		grid, thread uint32
		right        bool
	}{{false, 3, 256, true}, {false, 3, 192, false}, {true, 4, 192, true}, {true, 4, 256, false},
		{true, 3, 192, false}} {
		l := touched("fewrows16_bf16", driver.Dim3{X: c.grid, Y: 1, Z: 1}, driver.Dim3{X: c.thread, Y: 1, Z: 1})
		l.kernel.Cluster, l.kernel.Row = 2, fewrows.Row{Type: driver.BF16, Boxes: c.boxes}
		if err := l.check(kinds["fewrows"]); (err == nil) != c.right {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
