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

// packetTouches is what a kernel of packets touches on rank 0 of 2, which has one block: 16 bytes go to the peer.
func packetTouches() []touch.Touch {
	const read, write, wait, post = touch.Read, touch.Write, touch.Wait, touch.Post
	packet := touch.Touch{Bytes: 16, Type: driver.FP16, Turn: 8192 + 512, Half: 256, Packets: true}
	flag := touch.Touch{Bytes: 4, Turn: 8192 + 512, Half: 256, Packets: true, Flag: true}
	as := func(t touch.Touch, kind touch.Kind, at driver.Ptr, value uint32) touch.Touch {
		t.Kind, t.At, t.Value = kind, at, value
		return t
	}
	data := touch.Touch{Bytes: 16, Type: driver.FP16}
	list := []touch.Touch{
		as(data, read, 4096, 0), as(packet, write, 16384, 0), as(flag, post, 16384, 1), as(flag, wait, 8192+128, 1),
		as(flag, write, 8192+128, 0), as(touch.Touch{Bytes: 4}, write, 9100, 1), as(data, read, 4096, 0),
		as(packet, read, 8192+128, 0), as(data, read, 6000, 0), as(data, write, 6000, 0)}
	for i := range list {
		list[i].Block = 1
	}
	return list
}

// TestPackets: a launch of packets is recorded as a copy, posts, waits, a sum and a take, and refused where they land
// elsewhere or in another half.
func TestPackets(t *testing.T) {
	landing := plan.Region{Name: "landed", Base: 8192, Bytes: 768, Flags: "arrived", Data: 16, Part: 128, Half: 256}
	peers := landing
	peers.Rank, peers.Base = 1, 16384
	names := Names{Type: driver.FP16, Regions: []plan.Region{{Name: "A", Base: 4096, Bytes: 16},
		{Name: "C", Base: 6000, Bytes: 16}, landing, peers, {Name: "step[main]", Base: 9100, Bytes: 4}}}
	const recorded = `
main: copy by kernel packets by blocks: read A@0+0 16B, write landed@1+0 16B
main: signal by kernel packets by blocks: arrived@1+0 = 1
main: signal by kernel packets by blocks: arrived@0+4 == 1, arrived@0+4 = 0, step[main]@0+0 = 1
main: sum by kernel packets by blocks: read A@0+0 16B, read landed@0+16 16B, read C@0+0 16B, write C@0+0 16B
main: take by kernel packets by blocks: write landed@0+16 16B
`
	for _, c := range []struct {
		name string
		edit func(l []touch.Touch) []touch.Touch
		want string // of the error
	}{
		{"right", func(l []touch.Touch) []touch.Touch { return l }, ""},
		{"no reset", func(l []touch.Touch) []touch.Touch { return slices.Delete(l, 4, 5) }, "resets 0"},
		{"another type", func(l []touch.Touch) []touch.Touch { l[9].Type = driver.BF16; return l },
			"a sum of bf16 in a plan of fp16"},
		{"the second half", func(l []touch.Touch) []touch.Touch { l[1].At += 256; return l },
			"not in the first half"},
		{"other halves", func(l []touch.Touch) []touch.Touch { l[1].Half = 128; return l }, "halves of 128 bytes"},
		{"another block's turn", func(l []touch.Touch) []touch.Touch { l[1].Turn += 4; return l },
			"turns by landed@0+516"},
		{"the peer's turn", func(l []touch.Touch) []touch.Touch { l[1].Turn += 8192; return l },
			"turns by landed@1+512"},
		{"no packets where they land", func(l []touch.Touch) []touch.Touch { l[1].Turn = 0; return l },
			"takes it for packets or does not"},
		{"packets elsewhere", func(l []touch.Touch) []touch.Touch {
			l[9].Turn, l[9].Packets = l[1].Turn, true
			return l
		},
			"takes it for packets or does not"},
		{"data where packets land", func(l []touch.Touch) []touch.Touch { l[1].Packets = false; return l },
			"takes it for packets or does not"},
		{"foreign memory", func(l []touch.Touch) []touch.Touch { l[1].At = 1 << 40; return l }, "lies in no buffer"},
	} {
		one := driver.Dim3{X: 1, Y: 1, Z: 1}
		l := touched("packets_fp16", one, driver.Dim3{X: 256, Y: 1, Z: 1}, c.edit(packetTouches())...)
		list, err := l.operations(&names, ops.Op{Kind: ops.Signal, Stream: "main"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil && "\n"+ops.Lines(list) != recorded {
			t.Errorf("recorded\n%s, want%s", ops.Lines(list), recorded)
		}
	}
}
