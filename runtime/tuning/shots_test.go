package tuning

import (
	"errors"
	"strings"
	"testing"

	"ovgen/runtime/fabric"
	"ovgen/runtime/plan"
)

// sums are the schedules of an all-reduce of a number of bytes, in package tuned's order.
func sums(bytes int64) (list []option) {
	for _, x := range []struct {
		name string
		by   Shots
	}{{"oneshot", OneShot}, {"packets", Packets}, {"push", Pushed}, {"twoshot", TwoShot},
		{"twoshotpackets", TwoShotPackets}, {"nccl", Unknown}} {
		list = append(list, option{Program: &plan.Program{Name: x.name}, serves: func() error { return nil },
			nccl: func() bool { return x.name == "nccl" }, sum: Sum{By: x.by, Of: "C"}, bytes: bytes})
	}
	return list
}

// Where nothing is measured, sums for all ranks go by bytes, ranks and links: packets if there are few bytes, two shots
// of packets from three ranks on, sooner with more of them, and never on two ranks.
func TestShots(t *testing.T) {
	const kb, mb, nvlink = 1 << 10, 1 << 20, fabric.Switched
	for _, c := range []struct {
		ranks int
		bytes int64
		links fabric.Kind
		want  string
	}{
		{1, mb, nvlink, "oneshot"}, {2, 16 * kb, nvlink, "packets"}, {2, mb, nvlink, "packets"},
		{2, 8 * mb, nvlink, "push"}, {2, 16 * mb, nvlink, "push"}, {2, 256 * mb, nvlink, "push"},
		{3, 256 * kb, nvlink, "packets"}, {3, 4 * mb, nvlink, "twoshotpackets"},
		{4, 16 * kb, nvlink, "packets"}, {4, 128 * kb, nvlink, "packets"}, {4, mb, nvlink, "twoshotpackets"},
		{4, 16 * mb, nvlink, "twoshotpackets"}, {5, mb, nvlink, "twoshotpackets"},
		{8, 64 * kb, nvlink, "packets"}, {8, 256 * kb, nvlink, "twoshotpackets"},
		{8, 16 * mb, nvlink, "twoshotpackets"},
		{4, mb, fabric.Rings, "oneshot"}, {4, mb, fabric.Cube, "oneshot"},
		{4, mb, fabric.Mixed, "oneshot"}, {8, 16 * mb, fabric.Mixed, "oneshot"},
		{2, mb, fabric.Bus, "push"}, {3, 64 * kb, fabric.Bus, "packets"}, {4, 16 * kb, fabric.Bus, "packets"},
		{4, 128 * kb, fabric.Bus, "twoshotpackets"}, {8, 64 * kb, fabric.Bus, "twoshotpackets"},
	} {
		key := Measured{Operation: "sum", GPU: "a GPU", Ranks: c.ranks, Shape: "M 1, N 1, bf16"}
		_, choice, err := choose(&Table{}, key, sums(c.bytes), prefers{links: c.links})
		if err != nil || choice.Program != c.want {
			t.Errorf("%d ranks, %d bytes: %s, %v; want %s", c.ranks, c.bytes, choice, err, c.want)
		}
		if says := strings.Contains(choice.Why, "by estimate"); says != (rates[c.links] > 0 && c.ranks > 1) {
			t.Errorf("%d ranks, %d bytes: %s", c.ranks, c.bytes, choice.Why)
		}
	}
}

// A measurement decides, but for two shots on two ranks; and copies beside products stay first above 16 MiB.
func TestShotsMeasured(t *testing.T) {
	entry := Measured{Operation: "oneshot", GPU: "a GPU", Ranks: 3, Shape: "M 64, N 4096, bf16",
		Program: "twoshot", Milliseconds: 1}
	by := prefers{links: fabric.Switched}
	for ranks, want := range map[int]string{2: "packets", 3: "twoshot"} {
		entry.Ranks = ranks
		key := entry
		key.Program = ""
		_, choice, err := choose(&Table{Entries: []Measured{entry}}, key, sums(512<<10), by)
		if err != nil || choice.Program != want {
			t.Errorf("%d ranks: %s, %v; want %s", ranks, choice, err, want)
		}
	}
	two := sums(1 << 20)[3:5]
	_, _, err := choose(&Table{}, Measured{Operation: "twoshot", Ranks: 2, Shape: "M 1"}, two, by)
	if !errors.Is(err, ErrTwoShots) {
		t.Errorf("two shots alone on two ranks: %v", err)
	}
	for bytes, want := range map[int64]string{1 << 20: "packets", 64 << 20: "copies"} {
		list := sums(bytes)
		list = append([]option{{Program: &plan.Program{Name: "copies"}, serves: list[0].serves, nccl: list[0].nccl}},
			list...)
		key := Measured{Operation: "copies", Ranks: 2, Shape: "M 1"}
		if _, choice, err := choose(&Table{}, key, list, by); err != nil || choice.Program != want {
			t.Errorf("%d bytes: %s, %v; want %s", bytes, choice, err, want)
		}
	}
}

// A measurement does not decide over a sum that was not in its run and takes less by estimate.
func TestOvertaken(t *testing.T) {
	entry := Measured{Operation: "oneshot", GPU: "a GPU", Ranks: 4, Shape: "M 256, N 4096, bf16", Program: "packets",
		Milliseconds: .027}
	for _, c := range []struct {
		beside []string
		bytes  int64
		links  fabric.Kind
		want   string
	}{
		{nil, 2 << 20, fabric.Full, "packets: measured"},
		{[]string{"oneshot", "push", "twoshot"}, 2 << 20, fabric.Full,
			"twoshotpackets: measured on 4 of a GPU, 0.027 ms; twoshotpackets was not in that run; by estimate"},
		{[]string{"oneshot", "push", "twoshot"}, 64 << 10, fabric.Full, "packets: measured"},
		{[]string{"oneshot", "push", "twoshot"}, 2 << 20, fabric.Mixed, "packets: measured"},
		{[]string{"oneshot", "push", "twoshot"}, 128 << 10, fabric.Bus, "twoshotpackets: measured on 4"},
		{[]string{"oneshot", "push", "twoshot", "twoshotpackets"}, 2 << 20, fabric.Full, "packets: measured"},
	} {
		entry.Beside = c.beside
		_, choice, err := choose(&Table{Entries: []Measured{entry}}, entry, sums(c.bytes), prefers{links: c.links})
		if err != nil || !strings.HasPrefix(choice.String(), c.want) {
			t.Errorf("%v, %d bytes: %s, %v; want %s", c.beside, c.bytes, choice, err, c.want)
		}
	}
}

// Norms by owners cost a second result on the link, and a kernel behind a sum costs a launch.
func TestSumOfNorms(t *testing.T) {
	once, apart, owners := Sum{By: Packets}, Sum{By: Packets, Behind: 1}, Sum{By: TwoShotPackets, More: 1}
	const bytes = 1 << 20
	if a, b := once.Microseconds(bytes, 4, fabric.Full), apart.Microseconds(bytes, 4, fabric.Full); a >= b {
		t.Errorf("one kernel %.3g us, two %.3g", a, b)
	}
	if a, b := once.Microseconds(bytes, 8, fabric.Full), owners.Microseconds(bytes, 8, fabric.Full); a <= b {
		t.Errorf("8 ranks: norms by all %.3g us, by owners %.3g", a, b)
	}
	if us := (Sum{}).Microseconds(bytes, 8, fabric.Full); us != 0 {
		t.Errorf("a way that is not known takes %.3g us", us)
	}
}
