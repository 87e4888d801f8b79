package hostir

import (
	"fmt"
	"slices"
)

// PacketSpread is, in one kernel, a sum by packets that leaves each rank its part of a result, and a gather by packets
// that brings the part to all ranks: each thread sends its sums.
type PacketSpread struct {
	Sum    Packets
	Spread PacketGather
}

// SpreadPackets sums and spreads packets, which land in two buffers. each is this rank's part for every rank, and dst
// is the whole result, of which this rank sums one part. Each of added is as large as that part.
func SpreadPackets(s StreamRef, dst string, sums, spread Buffer, each View, added ...View) Step {
	own := Chunk(dst, Rank)
	w := PacketSpread{Packets{Sent: Sent{each, Whole(sums.Name)}, Added: added, To: own},
		PacketGather{Sent{own.EachRank(), Whole(spread.Name)}, Whole(dst)}}
	step := exchanged(s, string(w.Kind()), sums, w)
	step.Pre = append(step.Pre, exchanged(s, "", spread, w).Pre...)
	return step
}

// Kind is "packetspread".
func (PacketSpread) Kind() Kind { return "packetspread" }

func (PacketSpread) work() {}

// Steps are the sum and the gather, each with its flags.
func (x PacketSpread) Steps(s Step) (sum, spread Step) {
	sum, spread = s, s
	n := slices.IndexFunc(s.Pre, func(w Word) bool { return w.Semaphore != s.Pre[0].Semaphore })
	if n < 0 {
		n = len(s.Pre)
	}
	sum.Do, sum.Pre, sum.Post = x.Sum, s.Pre[:n], nil
	spread.Do, spread.Pre = x.Spread, s.Pre[n:]
	return sum, spread
}

// views leaves out the gather's view of this rank's part, which the sum writes. The first view that the work writes is
// the whole result.
func (x PacketSpread) views() (reads, writes []View) {
	reads, _ = x.Sum.views()
	return reads, []View{x.Spread.To, x.Spread.Landing, x.Sum.Landing}
}

func (x PacketSpread) with(p Parts) Work {
	x.Sum, x.Spread = x.Sum.with(p).(Packets), x.Spread.with(p).(PacketGather)
	return x
}

func (x PacketSpread) text() string { return x.Sum.text() + ";  " + x.Spread.text() }

func (x PacketSpread) check(s Step) error {
	own := x.Spread.Each
	own.Each.Index = ""
	if x.Sum.To.String() != own.String() || own.Buffer != x.Spread.To.Buffer {
		return fmt.Errorf("a kernel that sums and spreads packets sends what it sums, its part of the result")
	}
	if err := x.Sum.check(s); err != nil {
		return err
	}
	return x.Spread.check(s)
}
