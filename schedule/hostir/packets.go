package hostir

import (
	"fmt"
	"slices"
	"strings"
)

// Halves is the number of places that a buffer of packets has for each of its bytes; runs use the places in turn. A
// rank writes to a peer's half of which the peer made its last use in the run before the last, and waits for no
// permission.
const Halves = 2

// Landing says how data land in a buffer. Packets are words of 4 bytes, each of which is its own flag; Flags names them
// as words of a semaphore. Plain data have separate flags, one word for each block of the kernel that sends. The buffer
// and the words have Halves, which runs use in turn. Without a semaphore nothing lands.
type Landing struct {
	Flags  string
	Halves int
	Words  bool
}

// PushKernel sends plain data where PacketsKernel sends packets.
const (
	PacketsKernel = "packets"
	PushKernel    = "push"
)

// Pushes reports whether a kernel sends data that land at its peers.
func Pushes(kernel string) bool { return kernel == PushKernel || Kind(kernel).Lands() }

// Takes reports whether a kernel sends packets, and sets the packets that land back to 0.
func Takes(kernel string) bool { return Kind(kernel).Lands() }

// Landings are the semaphores of the flags of packets, each with its buffer.
func (p *Program) Landings() map[string]Buffer {
	found := map[string]Buffer{}
	for _, b := range p.Buffers {
		if b.Lands.Flags != "" {
			found[b.Lands.Flags] = b
		}
	}
	return found
}

// Sent is the data that kernels of packets send: the view of Each for rank r lands in this rank's part of rank r's
// landing.
type Sent struct{ Each, Landing View }

// Packets is the sum, in the order of ranks, of the views that land here and of this rank's view, and then of further
// tensors.
type Packets struct {
	Sent
	Added  []View
	Finish Finish // applied to the sum before it is rounded
	To     View
	// Then has formulas of rows that are applied to the sum; it may have none. With formulas, each block has whole rows
	// of the sum.
	Then Apply
}

// PacketGather puts the views that land here and this rank's view one after another, in the order of ranks.
type PacketGather struct {
	Sent
	To View
}

// SumPackets sends and sums packets. It posts and awaits the flags in between.
func SumPackets(s StreamRef, dst View, landing Buffer, each View, added ...View) Step {
	by := PacketsKernel
	if landing.Lands.Words {
		by = PushKernel
	}
	return exchanged(s, by, landing, Packets{Sent: Sent{each, Whole(landing.Name)}, Added: added, To: dst})
}

// GatherPackets sends and gathers packets. It posts and awaits the flags in between.
func GatherPackets(s StreamRef, dst View, landing Buffer, each View) Step {
	w := PacketGather{Sent: Sent{each, Whole(landing.Name)}, To: dst}
	return exchanged(s, string(w.Kind()), landing, w)
}

// exchanged is a step of a kernel's work with the flags of a landing.
func exchanged(s StreamRef, by string, landing Buffer, w Work) Step {
	flags := landing.Lands.Flags
	return Step{Stream: s, Do: w, Pre: []Word{{Semaphore: flags}, {Wait: true, Semaphore: flags}}, By: by,
		ByBlocks: true}
}

// SentBy is the data that work sends as packets; ok is false for work that sends none.
func SentBy(w Work) (sent Sent, ok bool) {
	switch x := w.(type) {
	case Packets:
		return x.Sent, true
	case PacketGather:
		return x.Sent, true
	case PacketSpread:
		return x.Sum.Sent, true
	}
	return Sent{}, false
}

// Lands reports whether packets land for the work.
func (k Kind) Lands() bool {
	return k == Packets{}.Kind() || k == PacketGather{}.Kind() || k == PacketSpread{}.Kind() || k == PacketRows{}.Kind()
}

// Kind is "packets".
func (Packets) Kind() Kind { return "packets" }

// Kind is "packetgather".
func (PacketGather) Kind() Kind { return "packetgather" }

func (Packets) asks() string      { return MovesField }
func (PacketGather) asks() string { return MovesField }

func (x Packets) views() (reads, writes []View) {
	reads, writes = x.Then.beside()
	reads = slices.Concat(some(x.Each), x.Added, x.Finish.Operands, reads)
	return reads, append(some(x.To, x.Landing), writes...)
}

func (x PacketGather) views() (reads, writes []View) { return []View{x.Each}, []View{x.To, x.Landing} }

func (x Packets) result() View { return x.To }

func (x Packets) with(p Parts) Work {
	x.To, x.Landing = p.view("destination", x.To), p.view("destination", x.Landing)
	x.Each, x.Added, x.Finish = p.view("source", x.Each), p.views("source", x.Added), x.Finish.with(p)
	x.Then, _ = x.Then.with(p).(Apply)
	return x
}

func (x PacketGather) result() View { return x.To }

func (x PacketGather) with(p Parts) Work {
	x.To, x.Landing = p.view("destination", x.To), p.view("destination", x.Landing)
	x.Each = p.view("source", x.Each)
	return x
}

func (x Packets) text() string {
	sum := append([]string{fmt.Sprintf("%s, %s and %s", x.To, x.Landing, x.Each)}, texted(x.Added)...)
	text := "Reduce(" + strings.Join(sum, ", ") + ")" + x.Finish.text()
	if len(x.Then.Makes) > 0 {
		text += ";  " + x.Then.text()
	}
	return text
}

func (x PacketGather) text() string {
	return fmt.Sprintf("Gather(%s, %s and %s)", x.To, x.Landing, x.Each)
}

func (x Packets) check(s Step) error {
	for _, v := range x.Added {
		if !v.Peer.IsZero() || v.Each.Index != "" || v.Buffer == "" {
			return fmt.Errorf("a kernel of packets adds tensors of its own rank to their sum")
		}
	}
	if err := x.Finish.check(); err != nil {
		return err
	}
	if len(x.Then.Makes) > 0 {
		if err := x.Then.check(s); err != nil {
			return err
		}
		if !Takes(s.By) || !x.Then.X.equal(x.To) || !x.Then.OfRows() {
			return fmt.Errorf("a kernel of packets makes what formulas of rows say of its sum, and nothing else")
		}
	}
	return x.Sent.check(s, x.To)
}

func (x PacketGather) check(s Step) error { return x.Sent.check(s, x.To) }

// check refuses packets that can't be sent.
func (x Sent) check(s Step, to View) error {
	if x.Each.Each.Index != RankIndex || !x.Each.Peer.IsZero() || len(some(x.Each, x.Landing, to)) < 3 {
		return fmt.Errorf("a kernel of packets reads a view for each rank, of its own, and writes its result and its " +
			"landing")
	}
	if s.By == "" || !s.ByBlocks {
		return fmt.Errorf("a kernel sends packets, its blocks each for itself")
	}
	return nil
}
