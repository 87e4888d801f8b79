package fabric

import "slices"

// Fabric has the link from each device, or rank, to each device or rank.
type Fabric [][]Link

// Pair is the worse of the two links between a and b: the directions may differ.
func (f Fabric) Pair(a, b int) Link {
	if l, back := f[a][b], f[b][a]; order[back] <= order[l] {
		return l
	}
	return f[b][a]
}

// Kind is the form of a fabric.
type Kind string

// Kinds, as they are printed.
const (
	Alone    Kind = "one device"
	Switched Kind = "NVLink joins every pair, by switches"
	Full     Kind = "NVLink joins every pair"
	Cube     Kind = "NVLink joins a hybrid cube mesh: two fours, and each of one to one of the other"
	Rings    Kind = "NVLink joins neighbours alone"
	Bus      Kind = "PCIe joins every pair"
	Mixed    Kind = "NVLink joins some pairs, and PCIe the others"
	Apart    Kind = "not every pair has peer access"
	Doubtful Kind = "CUDA does not say what joins every pair"
)

// Kind finds the form of the fabric. Pairs of devices on different hosts don't count.
func (f Fabric) Kind() Kind {
	count := map[Link]int{}
	for a := range f {
		for b := range a {
			count[f.Pair(a, b)]++
		}
	}
	delete(count, Network)
	all := func(l Link) bool { return len(count) == 1 && count[l] > 0 }
	switch {
	case len(count) == 0:
		return Alone
	case count[Unknown] > 0:
		return Doubtful
	case all(Switch):
		return Switched
	case count[PCIe]+count[None] == 0:
		return Full
	case all(PCIe):
		return Bus
	case f.cube():
		return Cube
	case f.FastRing():
		return Rings
	case count[None] > 0:
		return Apart
	}
	return Mixed
}

// cube reports whether eight devices are joined as in a hybrid cube mesh.
func (f Fabric) cube() bool {
	if len(f) != 8 {
		return false
	}
	// The fours are the devices that have all neighbours but one in common.
	joined := func(a, b int) bool { return a != b && f.Pair(a, b).Fast() }
	four := []int{0}
	for b := 1; b < 8; b++ {
		common := 0
		for c := range 8 {
			if joined(0, c) && joined(b, c) {
				common++
			}
		}
		if joined(0, b) && common == 2 {
			four = append(four, b)
		}
	}
	if len(four) != 4 {
		return false
	}
	for a := range 8 {
		inside, across := 0, 0
		for b := range 8 {
			switch same := slices.Contains(four, a) == slices.Contains(four, b); {
			case joined(a, b) && same:
				inside++
			case joined(a, b):
				across++
			}
		}
		if inside != 3 || across != 1 {
			return false
		}
	}
	return true
}

// Ring reports whether each device reaches the memory of the devices before and after it, and these reach its memory.
func (f Fabric) Ring() bool { return f.around(Link.Reaches) }

// FastRing reports whether NVLink joins each device to the devices before and after it.
func (f Fabric) FastRing() bool { return f.around(Link.Fast) }

// RingsFirst reports whether rings use NVLink alone, and other programs do not.
func (f Fabric) RingsFirst() bool { return f.FastRing() && order[f.worst()] > order[NVLink] }

func (f Fabric) around(good func(Link) bool) bool {
	for a := range f {
		if b := (a + 1) % len(f); a != b && !good(f.Pair(a, b)) {
			return false
		}
	}
	return true
}

// String is the kind and, where there is one, its consequence.
func (f Fabric) String() string {
	text := string(f.Kind())
	if f.worst() == PCIe {
		text += ", so programs that put and signal that by stream memory operations are refused"
	}
	if f.RingsFirst() {
		text += ", and rings come first where nothing was measured"
	}
	return text
}

// worst is the worst link of a pair on one host.
func (f Fabric) worst() Link {
	worst := Self
	for a := range f {
		for b := range a {
			if l := f.Pair(a, b); l != Network && order[l] > order[worst] {
				worst = l
			}
		}
	}
	return worst
}
