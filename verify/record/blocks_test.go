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

// blockTouches is what a kernel touches whose blocks, from 1, each await two words, copy 16 bytes and post a word.
func blockTouches(blocks int) (list []touch.Touch) {
	for b := 1; b <= blocks; b++ {
		part := driver.Ptr(b - 1)
		words := 8192 + 16*part
		for _, t := range []touch.Touch{
			{Kind: touch.Wait, At: words, Bytes: 4, Value: 1}, {Kind: touch.Write, At: words, Bytes: 4},
			{Kind: touch.Wait, At: words + 4, Bytes: 4, Value: 1},
			{Kind: touch.Write, At: words + 4, Bytes: 4},
			{Kind: touch.Read, At: 4096 + 16*part, Bytes: 16},
			{Kind: touch.Write, At: 4160 + 16*part, Bytes: 16},
			{Kind: touch.Post, At: words + 8, Bytes: 4, Value: 1},
		} {
			t.Block = b
			list = append(list, t)
		}
	}
	return list
}

// of is the n-th touch of a block in that list.
func of(block, n int) int { return 7*(block-1) + n }

// awaits lets a block await another's words.
func awaits(l []touch.Touch, block, other int) []touch.Touch {
	for i := range 4 {
		l[of(block, i)].At = l[of(other, i)].At
	}
	return l
}

// ofThree are the touches of three blocks, whatever the launch has.
func ofThree([]touch.Touch) []touch.Touch { return blockTouches(3) }

// blockCases are launches of so many blocks; edit changes their touches.
var blockCases = []struct {
	name string
	grid int
	edit func(l []touch.Touch) []touch.Touch
	want string // of the error
}{
	{"right", 3, nil, ""},
	{"a last part of no bytes", 3, func(l []touch.Touch) []touch.Touch {
		l[of(3, 4)].Bytes, l[of(3, 5)].Bytes = 0, 0
		return l
	}, ""},
	{"a block without a post", 3, func(l []touch.Touch) []touch.Touch {
		return slices.Delete(l, of(2, 6), of(2, 7))
	}, "block 1 of 3: it does 2 operations, and the first block 3"},
	{"two reads", 3, func(l []touch.Touch) []touch.Touch {
		return slices.Insert(l, of(2, 4), l[of(2, 4)])
	}, "block 1 of 3: it does\n"},
	{"a word more", 3, func(l []touch.Touch) []touch.Touch {
		more := touch.Touch{Kind: touch.Post, At: 8240, Bytes: 4, Value: 1, Block: 2}
		return slices.Insert(l, of(2, 6), more)
	}, "block 1 of 3: it does\n"},
	{"the first block's words", 2, func(l []touch.Touch) []touch.Touch {
		return awaits(l, 2, 1)
	}, "ready@0+0 == 1 is not one of its own"},
	{"the second block's words", 3, func(l []touch.Touch) []touch.Touch {
		return awaits(l, 3, 2)
	}, "block 2 of 3: its word ready@0+16 == 1 is not one of its own"},
	{"words that are not as far from the first block's", 2, func(l []touch.Touch) []touch.Touch {
		l[of(2, 6)].At += 4
		return l
	}, "ready@0+28 = 1 is not one of its own where the first block has ready@0+8 = 1"},
	{"another value", 2, func(l []touch.Touch) []touch.Touch {
		l[of(2, 6)].Value = 2
		return l
	}, "ready@0+24 = 2 is not one of its own"},
	{"two words crossed", 2, func(l []touch.Touch) []touch.Touch {
		l[of(2, 0)].At, l[of(2, 2)].At = l[of(2, 2)].At, l[of(2, 0)].At
		l[of(2, 1)].At, l[of(2, 3)].At = l[of(2, 3)].At, l[of(2, 1)].At
		return l
	}, "is not one of its own"},
	{"a gap", 2, func(l []touch.Touch) []touch.Touch {
		l[of(2, 4)].At += 4
		return l
	}, "block 1 of 2: its part is read A@0+20 16B, and those before it end at A@0+16"},
	{"an overlap", 2, func(l []touch.Touch) []touch.Touch {
		l[of(2, 5)].At -= 4
		return l
	}, "its part is write A@0+76 16B, and those before it end at A@0+80"},
	{"a read in the place of a write", 2, func(l []touch.Touch) []touch.Touch {
		l[of(2, 5)].Kind = touch.Read
		return l
	}, "its part is read A@0+80 16B"},
	{"foreign memory", 2, func(l []touch.Touch) []touch.Touch {
		l[of(2, 4)].At = 1 << 40
		return l
	}, "block 1 of 2: address 0x10000000000 lies in no buffer"},
	{"fewer blocks than parts", 2, ofThree, "it has 2 blocks, and its parameters name block 3"},
	{"more blocks than parts", 4, ofThree, "block 3 of 4: it does 1 operations, and the first block 3"},
}

// TestBlocks: blocks that signal each for itself are recorded as those of the first one for the parts of all, and
// refused where they differ by more than their part.
func TestBlocks(t *testing.T) {
	names := Names{Type: driver.FP16, Regions: []plan.Region{{Name: "A", Base: 4096, Bytes: 128},
		{Name: "ready", Base: 8192, Bytes: 64}}}
	for _, x := range blockCases {
		touches := blockTouches(x.grid)
		if x.edit != nil {
			touches = x.edit(touches)
		}
		l := touched("get", driver.Dim3{X: uint32(x.grid), Y: 1, Z: 1}, driver.Dim3{X: 32, Y: 1, Z: 1}, touches...)
		list, err := l.operations(&names, ops.Op{Kind: ops.Signal, Stream: "main"})
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
		const whole = `
main: signal by kernel get by blocks: ready@0+0 == 1, ready@0+0 = 0, ready@0+4 == 1, ready@0+4 = 0
main: copy by kernel get by blocks: read A@0+0 48B, write A@0+64 48B
main: signal by kernel get by blocks: ready@0+8 = 1
`
		if x.name == "right" && "\n"+ops.Lines(list) != whole {
			t.Errorf("recorded\n%s, want%s", ops.Lines(list), whole)
		}
	}
}
