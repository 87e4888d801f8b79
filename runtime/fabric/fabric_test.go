//go:build cgo

package fabric_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/fabric"
	"ovgen/runtime/fabric/follows"
	"ovgen/verify/sim"
)

// read opens the devices of a simulated host and reads the links between them.
func read(t *testing.T, c sim.Config) fabric.Fabric {
	t.Helper()
	w := sim.NewWorld(c)
	defer w.Close()
	list := make([]driver.Driver, c.Devices)
	for i := range list {
		d, err := w.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = d
	}
	f := make(fabric.Fabric, len(list))
	for a, d := range list {
		for b, peer := range list {
			l, err := fabric.Self, error(nil)
			if a != b {
				l, err = fabric.Read(d, peer.Properties().UUID)
			}
			if err != nil {
				t.Fatal(err)
			}
			f[a] = append(f[a], l)
		}
	}
	return f
}

// cube joins the devices of a DGX-1: two fours, and each of one to one of the other.
func cube(a, b int) bool { return a/4 == b/4 || a%4 == b%4 }

// numbered is a cube whose devices have other numbers.
func numbered(at ...int) func(a, b int) bool {
	return func(a, b int) bool { return cube(at[a], at[b]) }
}

// twice is a cube whose device 1 has lost its link across to 5, which 0 has in its place: 0 has two across, and 1 none.
func twice(a, b int) bool {
	switch a, b := min(a, b), max(a, b); {
	case a == 0 && b == 5:
		return true
	case a == 1 && b == 5:
		return false
	default:
		return cube(a, b)
	}
}

// halved is a cube whose devices 5 and 6 are not joined: each has two links inside its four.
func halved(a, b int) bool { return cube(a, b) && (min(a, b) != 5 || max(a, b) != 6) }

func neighbours(n int) func(a, b int) bool {
	return func(a, b int) bool { return (a+1)%n == b || (b+1)%n == a }
}

func never(a, b int) bool { return false }

// TestFabrics has a simulated fabric of each kind, and what follows from it.
func TestFabrics(t *testing.T) {
	for _, x := range []struct {
		name       string
		config     sim.Config
		kind       fabric.Kind
		ring, fast bool
		order      []int
		follows    []string
	}{
		{"one device", sim.Config{Devices: 1}, fabric.Alone, true, true, nil, nil},
		{"full", sim.Config{Devices: 4}, fabric.Full, true, true, []int{0, 1, 2, 3},
			[]string{"NVLink joins every pair: every program runs."}},
		{"switches", sim.Config{Devices: 8, Switched: true}, fabric.Switched, true, true, []int{0, 1, 2, 3, 4, 5, 6, 7},
			[]string{"NVLink joins every pair, by switches: every program runs."}},
		{"hybrid cube mesh with PCIe", sim.Config{Devices: 8, NVLink: cube}, fabric.Cube, true, false,
			[]int{0, 1, 2, 3, 7, 5, 6, 4}, []string{"hybrid cube mesh", "0-1", "programs that put",
				"In the order 0, 1, 2, 3, 7, 5, 6, 4 NVLink joins neighbours"}},
		{"hybrid cube mesh", sim.Config{Devices: 8, NVLink: cube, PeerAccess: cube}, fabric.Cube, false, false,
			[]int{0, 1, 2, 3, 7, 5, 6, 4}, []string{"hybrid cube mesh",
				"no access: a group with both joins by Config.Apart, and runs programs by NCCL alone."}},
		{"hybrid cube mesh anew", sim.Config{Devices: 8, NVLink: numbered(3, 5, 0, 6, 1, 4, 7, 2)}, fabric.Cube,
			true, false, []int{0, 2, 4, 1, 5, 6, 3, 7}, []string{"hybrid cube mesh"}},
		{"hybrid cube mesh around", sim.Config{Devices: 8, NVLink: numbered(0, 1, 2, 3, 7, 5, 6, 4)}, fabric.Cube,
			true, true, []int{0, 1, 2, 3, 4, 5, 6, 7}, []string{"hybrid cube mesh", "Rings use NVLink alone"}},
		{"a cube but for two links across", sim.Config{Devices: 8, NVLink: twice}, fabric.Mixed, true, false,
			[]int{0, 1, 2, 3, 7, 4, 6, 5}, []string{"NVLink joins some pairs, and PCIe the others."}},
		{"a cube but for one link inside", sim.Config{Devices: 8, NVLink: halved}, fabric.Mixed, true, false,
			[]int{0, 1, 2, 6, 4, 5, 7, 3}, []string{"NVLink joins some pairs, and PCIe the others."}},
		{"neighbours with PCIe", sim.Config{Devices: 5, NVLink: neighbours(5)}, fabric.Rings, true, true,
			[]int{0, 1, 2, 3, 4}, []string{"NVLink joins neighbours alone.", "Rings use NVLink alone"}},
		{"neighbours", sim.Config{Devices: 4, NVLink: neighbours(4), PeerAccess: neighbours(4)}, fabric.Rings,
			true, true, []int{0, 1, 2, 3},
			[]string{"0-2, 1-3: no access", "runs programs by NCCL and rings.", "Rings use"}},
		{"PCIe", sim.Config{Devices: 4, NVLink: never}, fabric.Bus, true, false, nil,
			[]string{"PCIe joins every pair.", "access without NVLink"}},
		{"two pairs", sim.Config{Devices: 4, NVLink: func(a, b int) bool { return a/2 == b/2 }}, fabric.Mixed,
			true, false, nil, []string{"NVLink joins some pairs, and PCIe the others.", "0-1, 2-3: NVLink"}},
		{"none", sim.Config{Devices: 4, PeerAccess: never}, fabric.Apart, false, false, nil,
			[]string{"not every pair has peer access.", "runs programs by NCCL alone."}},
		{"one way only", sim.Config{Devices: 2, PeerAccess: func(a, b int) bool { return a < b }}, fabric.Apart, false,
			false, nil, []string{"0-1: no access"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			f := read(t, x.config)
			if f.Kind() != x.kind {
				t.Errorf("%s, want %s", f.Kind(), x.kind)
			}
			all := []fabric.Kind{fabric.Full, fabric.Switched, fabric.Alone}
			rings, want := f.RingsFirst(), x.fast && !slices.Contains(all, x.kind)
			if rings != want || strings.Contains(f.String(), "rings come first") != want {
				t.Errorf("rings first: %t, want %t; %s", rings, want, f)
			}
			if f.Ring() != x.ring || f.FastRing() != x.fast || !slices.Equal(follows.Order(f), x.order) {
				t.Errorf("ring %t, by NVLink %t, order %v; want %t, %t, %v", f.Ring(), f.FastRing(), follows.Order(f),
					x.ring, x.fast, x.order)
			}
			text := strings.Join(follows.Lines(f), "\n")
			for _, want := range x.follows {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if len(x.follows) == 0 && text != "" {
				t.Errorf("%q follows", text)
			}
		})
	}
}

// A link that CUDA does not answer for, and devices of other hosts.
func TestDoubtful(t *testing.T) {
	if k := (fabric.Fabric{{fabric.Self, fabric.Unknown}, {fabric.NVLink, fabric.Self}}).Kind(); k != fabric.Doubtful {
		t.Errorf("%s", k)
	}
	if k := (fabric.Fabric{{fabric.Self, fabric.Network}, {fabric.Network, fabric.Self}}).Kind(); k != fabric.Alone {
		t.Errorf("%s", k)
	}
}
