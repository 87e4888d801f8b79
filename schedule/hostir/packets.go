package hostir

import (
	"fmt"
	"slices"
)

// Halves is how many places a buffer of packets has for each of its bytes, which runs use in turn: a rank writes to a
// peer's half that the peer has done with since the run before the last, and waits for nobody's leave.
const Halves = 2

// Landing says how data lands in a buffer. Packets are words of 4 bytes, each its own flag; Flags names them as words
// of a semaphore. Plain data has separate flags, one word for each block of the kernel that sends. The buffer and the
// words have Halves, which runs use in turn. Without a semaphore nothing lands.
type Landing struct {
	Flags  string
	Halves int
	Words  bool
}

// PushKernel sends plain data where PacketsKernel sends packets.
const (
	PacketsKernel = string(Packets)
	PushKernel    = "push"
)

// Pushes says that a kernel sends data that lands at its peers.
func Pushes(kernel string) bool { return kernel == PushKernel || Kind(kernel).Lands() }

// Takes says that a kernel sends packets, and sets the packets that land back to 0.
func Takes(kernel string) bool { return Kind(kernel).Lands() }

// Landings are the semaphores that are flags of packets, with the buffer of each.
func (p *Program) Landings() map[string]Buffer {
	found := map[string]Buffer{}
	for _, b := range p.Buffers {
		if b.Lands.Flags != "" {
			found[b.Lands.Flags] = b
		}
	}
	return found
}

// SumPackets sends view r to rank r as packets, receives one view from each peer, and sums them and this rank's view in
// rank order. It then adds the optional tensor added. The flags are posted and awaited between.
func SumPackets(s StreamRef, dst View, landing Buffer, each View, added ...View) Step {
	flags, by := landing.Lands.Flags, PacketsKernel
	if landing.Lands.Words {
		by = PushKernel
	}
	return Step{Stream: s, Do: Packets, Reads: append([]View{each}, added...), Writes: []View{dst, Whole(landing.Name)},
		Pre: []Word{{Semaphore: flags}, {Wait: true, Semaphore: flags}}, By: by, ByBlocks: true}
}

// GatherPackets is like SumPackets, but puts the views one after another instead of summing them.
func GatherPackets(s StreamRef, dst View, landing Buffer, each View) Step {
	step := SumPackets(s, dst, landing, each)
	step.Do, step.By = PacketGather, string(PacketGather)
	return step
}

// Lands says that packets land for the work.
func (k Kind) Lands() bool { return k == Packets || k == PacketGather }

// checkPackets refuses work with packets that can't be done.
func (s Step) checkPackets() error {
	away := func(v View) bool { return !v.Peer.IsZero() }
	reads := len(s.Reads) == 1 || len(s.Reads) == 2 && s.Do == Packets && s.Reads[1].Each.Index == ""
	if !reads || len(s.Writes) != 2 || s.Reads[0].Each.Index != RankIndex || slices.ContainsFunc(s.Reads, away) {
		return fmt.Errorf("a kernel of packets reads a view for each rank, of its own, and perhaps a tensor to add " +
			"to their sum, and writes its result and its landing")
	}
	if s.By == "" || !s.ByBlocks {
		return fmt.Errorf("a kernel sends packets, its blocks each for itself")
	}
	return nil
}
