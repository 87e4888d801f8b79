package record

import (
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// groupTouches is what a kernel of tiles that scatters touches on rank 0 of 2, in two groups of two columns of two
// rows: its beginning, the groups of the peer's rows, and those of the own ones.
func groupTouches() (list []touch.Touch) {
	const read, write, wait, post = touch.Read, touch.Write, touch.Wait, touch.Post
	add := func(block int, touches ...touch.Touch) {
		for _, t := range touches {
			if t.Block = block; t.Bytes == 0 {
				t.Bytes = 4
			} else {
				t.Type = driver.FP16
			}
			list = append(list, t)
		}
	}
	part := func(kind touch.Kind, at driver.Ptr) touch.Touch {
		return touch.Touch{Kind: kind, At: at, Bytes: 4, Rows: 2, Apart: 8}
	}
	add(0, touch.Touch{Kind: write, At: 9000}, touch.Touch{Kind: post, At: 8104, Value: 1},
		touch.Touch{Kind: post, At: 8112, Value: 1})
	for g := range driver.Ptr(2) {
		add(1+int(g), touch.Touch{Kind: wait, At: 8004 + 8*g, Value: 1}, touch.Touch{Kind: read, At: 4016, Bytes: 16},
			touch.Touch{Kind: read, At: 5000 + 8*g, Bytes: 8}, part(write, 7100+4*g),
			touch.Touch{Kind: write, At: 8004 + 8*g}, touch.Touch{Kind: post, At: 8304 + 8*g, Value: 1})
	}
	for g := range driver.Ptr(2) {
		add(3+int(g), touch.Touch{Kind: read, At: 4000, Bytes: 16}, touch.Touch{Kind: read, At: 5000 + 8*g, Bytes: 8},
			part(write, 7000+4*g), touch.Touch{Kind: write, At: 9000},
			touch.Touch{Kind: wait, At: 8204 + 8*g, Value: 1}, part(read, 7000+4*g), part(read, 7016+4*g),
			part(write, 6000+4*g), touch.Touch{Kind: write, At: 8204 + 8*g})
		if g == 0 {
			add(3, touch.Touch{Kind: write, At: 9100, Value: 1})
		}
	}
	return list
}

// TestGroups: the groups of a part are recorded as one, and refused where together they are no part.
func TestGroups(t *testing.T) {
	names := Names{Type: driver.FP16, Regions: []plan.Region{{Name: "A", Base: 4000, Bytes: 32},
		{Name: "B", Base: 5000, Bytes: 16}, {Name: "C", Base: 6000, Bytes: 16}, {Name: "slots", Base: 7000, Bytes: 32},
		{Name: "slots", Rank: 1, Base: 7100, Bytes: 32}, {Name: "free", Base: 8000, Bytes: 16},
		{Name: "free", Rank: 1, Base: 8100, Bytes: 16}, {Name: "arrived", Base: 8200, Bytes: 16},
		{Name: "arrived", Rank: 1, Base: 8300, Bytes: 16}, {Name: "count[main]", Base: 9000, Bytes: 4},
		{Name: "step[main]", Base: 9100, Bytes: 4}}}
	const recorded = `
main: signal by kernel scatter by groups at once counting in count[main]@0+0: free@1+4 = 1
main: signal by kernel scatter by groups part 1 at once: free@0+4 == 1, free@0+4 = 0
main: product linear by kernel scatter by groups part 1 at once: read A@0+16 16B, read B@0+0 16B, write slots@1+0 16B
main: signal by kernel scatter by groups part 1 at once: arrived@1+4 = 1
main: product linear by kernel scatter by groups part 2 at once: read A@0+0 16B, read B@0+0 16B, write slots@0+0 16B
main: signal by kernel scatter by groups part 2 at once counting in count[main]@0+0: ` +
		`arrived@0+4 == 1, arrived@0+4 = 0, step[main]@0+0 = 1
main: sum by kernel scatter by groups part 2 at once: read slots@0+0 16B, read slots@0+16 16B, write C@0+0 16B
`
	// move moves the touches at some addresses, block by block.
	move := func(from, to driver.Ptr) func(l []touch.Touch) []touch.Touch {
		return func(l []touch.Touch) []touch.Touch {
			for i := range l {
				if l[i].At == from {
					l[i].At = to
				}
			}
			return l
		}
	}
	for _, c := range []struct {
		name string
		edit func(l []touch.Touch) []touch.Touch
		want string // of the error
	}{
		{"right", func(l []touch.Touch) []touch.Touch { return l }, ""},
		{"results that overlap", move(6004, 6002), "C is used by groups up to"},
		{"results with a gap", func(l []touch.Touch) []touch.Touch {
			l[6].Rows = 1
			return l
		}, "slots is used by groups up to"},
		{"one post for both groups", move(8312, 8304), "its word arrived@1+4 is another group's"},
		{"groups of the peer's rows that are not those of the own ones", func(l []touch.Touch) []touch.Touch {
			return slices.DeleteFunc(l, func(t touch.Touch) bool { return t.Block == 4 })
		}, "a part has 1 groups of tiles, and another 2"},
		{"one slot free", func(l []touch.Touch) []touch.Touch { return slices.Delete(l, 2, 3) },
			"1 words for 2 groups"},
		{"the first slot free twice", move(8112, 8104), "2 words for 2 groups, of which free@1+4"},
		{"another operand", move(5008, 6008), "a group's part is read C@0+8"},
	} {
		l := touched("scatter_fp16", driver.Dim3{X: 2, Y: 1, Z: 1}, driver.Dim3{X: tileThreads, Y: 1, Z: 1},
			c.edit(groupTouches())...)
		list, err := l.operations(&names, ops.Op{Kind: ops.Signal, Stream: "main"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil && "\n"+ops.Lines(list) != recorded {
			t.Errorf("recorded\n%s, want%s", ops.Lines(list), recorded)
		}
	}
}
