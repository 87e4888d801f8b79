package hostir

import (
	"fmt"
	"slices"
)

// PacketSpread is, in one kernel, a sum by packets that leaves each rank its part of a result, and gathers by packets
// that bring the part to all ranks: each thread sends its sums. With formulas of rows behind the sum a part is of whole
// rows, which their owner alone adds up and applies the formulas to; the gathers bring the results to all, and the sum
// where other ranks need it.
type PacketSpread struct {
	Sum    Packets
	Spread []PacketGather // of results of the sum's kernel, in their order
}

// SpreadPackets sums and spreads packets, which land in two buffers. each is this rank's part for every rank, and dst
// is the whole result, of which this rank sums one part. Each of added is as large as that part.
func SpreadPackets(s StreamRef, dst string, sums, spread Buffer, each View, added ...View) Step {
	own := Chunk(dst, Rank)
	w := PacketSpread{Packets{Sent: Sent{each, Whole(sums.Name)}, Added: added, To: own},
		[]PacketGather{SpreadOf(dst, spread)}}
	step := exchanged(s, string(w.Kind()), sums, w)
	return step.Spreading(spread)
}

// SpreadOf brings each rank's part of a result to all ranks.
func SpreadOf(result string, landing Buffer) PacketGather {
	return PacketGather{Sent{Chunk(result, Rank).EachRank(), Whole(landing.Name)}, Whole(result)}
}

// Spreading is the step with the flags of a further landing.
func (s Step) Spreading(landing Buffer) Step {
	s.Pre = slices.Concat(s.Pre, exchanged(s.Stream, "", landing, nil).Pre)
	return s
}

// Kind is "packetspread".
func (PacketSpread) Kind() Kind { return "packetspread" }

func (PacketSpread) asks() string { return MovesField }

// Steps are the sum and the gathers, each with its flags.
func (x PacketSpread) Steps(s Step) (sum Step, spread []Step) {
	next := eachOwn(s.Pre)
	sum = s
	sum.Do, sum.Pre, sum.Post = x.Sum, next(), nil
	for i, g := range x.Spread {
		one := s
		one.Do, one.Pre = g, next()
		if i+1 < len(x.Spread) {
			one.Post = nil
		}
		spread = append(spread, one)
	}
	return sum, spread
}

// eachOwn returns the words of one semaphore after another, which stand together.
func eachOwn(flags []Word) func() []Word {
	return func() (of []Word) {
		n := slices.IndexFunc(flags, func(w Word) bool { return w.Semaphore != flags[0].Semaphore })
		if n < 0 {
			n = len(flags)
		}
		of, flags = flags[:n:n], flags[n:]
		return of
	}
}

// Results are the sum of this rank's part, and the results of formulas of it, in their order.
func (x PacketSpread) Results() []View {
	list := []View{x.Sum.To}
	if len(x.Sum.Then.Makes) > 0 {
		for _, f := range x.Sum.Then.Chain() {
			list = append(list, f.To)
		}
	}
	return list
}

// Landings are the buffers in which the results of all ranks land, in the order of Results; a result without one stays
// on the rank that made it.
func (x PacketSpread) Landings() []View {
	list := x.Results()
	for i, v := range list {
		list[i] = View{}
		for _, g := range x.Spread {
			if g.of(v) {
				list[i] = g.Landing
			}
		}
	}
	return list
}

// of reports whether the gather brings a rank's part, a result of this rank, to all.
func (x PacketGather) of(part View) bool {
	own := x.Each
	own.Each.Index = ""
	return part.String() == own.String() && own.Buffer == x.To.Buffer
}

// OfSum reports whether a gather brings the sum to all: it is sent before formulas are made of it.
func (x PacketSpread) OfSum(g PacketGather) bool { return g.of(x.Sum.To) }

// views leaves out the gathers' views of this rank's parts, which the sum and its formulas write.
func (x PacketSpread) views() (reads, writes []View) {
	reads, _ = x.Sum.views()
	landings := x.Landings()
	for _, g := range x.Spread {
		writes = append(writes, g.To, g.Landing)
	}
	for i, v := range x.Results() {
		if landings[i].Buffer == "" {
			writes = append(writes, v)
		}
	}
	return reads, append(writes, x.Sum.Landing)
}

// result is the first result that all ranks get.
func (x PacketSpread) result() View {
	if len(x.Spread) == 0 {
		return x.Sum.To
	}
	return x.Spread[0].To
}

func (x PacketSpread) with(p Parts) Work {
	x.Sum, x.Spread = x.Sum.with(p).(Packets), slices.Clone(x.Spread)
	for i, g := range x.Spread {
		x.Spread[i] = g.with(p).(PacketGather)
	}
	return x
}

func (x PacketSpread) text() string {
	text := x.Sum.text()
	for _, g := range x.Spread {
		text += ";  " + g.text()
	}
	return text
}

func (x PacketSpread) check(s Step) error {
	results := x.Results()
	for _, g := range x.Spread {
		i := slices.IndexFunc(results, g.of)
		if i < 0 {
			return fmt.Errorf("a kernel that sums and spreads packets sends its parts of what it makes, in order and " +
				"once")
		}
		results = results[i+1:]
		if err := g.check(s); err != nil {
			return err
		}
	}
	if len(x.Spread) == 0 {
		return fmt.Errorf("a kernel that sums and spreads packets has something to spread")
	}
	return x.Sum.check(s)
}
