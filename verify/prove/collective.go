package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// A collective is two nodes of each rank: enter and leave. Each rank needs the data of all, so leave
// comes after the enter of every rank of the communicator. No edge leads from another rank's leave,
// since a collective ends on a rank as soon as that rank has its result. Every path from an enter leads
// to a leave first, which comes after all enters: so a node that is ordered with both is never between
// them.
//
// An exchange needs the data of one rank: its leave comes after that rank's enter, and no other. NCCL
// may buffer the data until the peer asks for it, or make the sender wait. So a sender is ordered behind
// its receiver in a second graph only, which shows that no program gets stuck.

// meeting is the nodes of one collective in one run.
type meeting struct{ enters, leaves []int32 }

// collective adds the two nodes of a rank's k-th collective, and returns the leave.
func (b *builder) collective(n node, k int, after []int32) int32 {
	n.kind = enter
	first := b.add(n, after...)
	n.kind = leave
	last := b.add(n, first)
	rail := b.rail(n.rank)
	for len(b.meetings[rail]) <= k {
		b.meetings[rail] = append(b.meetings[rail], meeting{})
	}
	m := &b.meetings[rail][k]
	m.enters, m.leaves = append(m.enters, first), append(m.leaves, last)
	return last
}

// meet adds the edges between ranks.
func (b *builder) meet() {
	for _, m := range slices.Concat(b.meetings...) {
		for _, from := range m.enters {
			for _, to := range m.leaves {
				if b.needs(to, b.nodes[from].rank) {
					b.edge(from, to)
				}
			}
		}
	}
}

// needs reports whether a collective ends on its rank only once another rank has begun it.
func (b *builder) needs(leave, rank int32) bool {
	if b.nodes[leave].rank == rank {
		return false
	}
	o, r := b.operation(leave), int(rank)
	return o.Form != exchange || o.From == r || b.both && o.To == r
}

const exchange = string(hostir.Exchange)

// rails is the number of communicators: one or, over hosts, one for each rank of a host.
func (g *graph) rails() int {
	if g.model.Hosts == 0 {
		return 1
	}
	return len(g.lists) / g.model.Hosts
}

// rail is the communicator of a rank.
func (g *graph) rail(rank int32) int { return int(rank) % g.rails() }

// members are the ranks of a rank's communicator.
func (g *graph) members(rank int) (list []int) {
	for r := rank % g.rails(); r < len(g.lists); r += g.rails() {
		list = append(list, r)
	}
	return list
}

// entered returns the enters that come before a leave: the enter of the same rank, and the enters of its peers.
func (g *graph) entered(leave int32) (own int32, peers []int32) {
	for _, n := range g.before(leave) {
		switch {
		case g.nodes[n].kind != enter:
		case g.nodes[n].rank == g.nodes[leave].rank:
			own = n
		default:
			peers = append(peers, n)
		}
	}
	return own, peers
}

// collectives lists the collectives of a rank, as indices into its list.
func collectives(list []ops.Op) (of []int) {
	for i, o := range list {
		if o.Kind == ops.Collective {
			of = append(of, i)
		}
	}
	return of
}

// agreement: all ranks of a communicator have the same list of collectives, by kinds and sizes. The sizes of each fit
// its kind. The sender and the receiver of each exchange name each other and one size, which others need not have. NCCL
// compares none of this: ranks that disagree hang, or write garbage.
func (p *proof) agreement() *Counterexample {
	for r, list := range p.lists {
		members := p.members(r)
		other := members[0]
		first, mine := collectives(p.lists[other]), collectives(list)
		if n := min(len(mine), len(first)); len(mine) != len(first) {
			longer, at := r, mine
			if len(first) > len(mine) {
				longer, at = other, first
			}
			return p.against(Agreement, p.find(longer, at[n]), -1,
				fmt.Sprintf("rank %d has %d collectives in a run, rank %d has %d", other, len(first), r, len(mine)),
				"let no branch that depends on the rank hold one")
		}
		for k, i := range mine {
			a, b := p.lists[other][first[k]], list[i]
			if wrong := misfit(b, int64(len(members))); wrong != "" {
				return p.against(Agreement, p.find(r, i), -1, wrong, "give each rank's part one size")
			}
			if a.Form != b.Form || a.Form != exchange && volumes(a) != volumes(b) {
				c := p.against(Agreement, p.find(other, first[k]), p.find(r, i),
					fmt.Sprintf("collective %d of a run is %s here, and %s on rank %d", k+1,
						signature(a), signature(b), r),
					"enqueue the same on all ranks, in one order")
				c.ToFirst, c.ToSecond, c.Missing = nil, nil, ""
				return c
			}
			if wrong := p.mispaired(r, k, b, members); wrong != "" {
				return p.against(Agreement, p.find(r, i), -1, wrong,
					"let each rank send to the one that gets from it, on the rail of both")
			}
		}
	}
	return nil
}

// mispaired says why collective k of a rank, an exchange, does not fit the exchanges of its peers.
func (p *proof) mispaired(r, k int, o ops.Op, members []int) string {
	if o.Form != exchange {
		return ""
	}
	for _, peer := range []int{o.To, o.From} {
		if !slices.Contains(members, peer) {
			return fmt.Sprintf("rank %d is on another rail than rank %d", peer, r)
		}
	}
	at := collectives(p.lists[o.To])
	if k >= len(at) {
		return ""
	}
	theirs := p.lists[o.To][at[k]]
	switch sent, got := volumes(o)[0], volumes(theirs)[1]; {
	case theirs.From != r:
		return fmt.Sprintf("rank %d sends to rank %d, which gets from rank %d in collective %d of its run", r, o.To,
			theirs.From, k+1)
	case sent != got:
		return fmt.Sprintf("rank %d sends %d bytes to rank %d, which gets %d in collective %d of its run", r, sent,
			o.To, got, k+1)
	}
	return ""
}

// volumes are the bytes that a collective reads, and the bytes that it writes.
func volumes(o ops.Op) (v [2]int64) {
	for _, u := range o.Uses {
		if u.Write {
			v[1] += u.Bytes
		} else {
			v[0] += u.Bytes
		}
	}
	return v
}

func signature(o ops.Op) string {
	v := volumes(o)
	return fmt.Sprintf("%s of %d bytes to %d", o.Form, v[0], v[1])
}

// misfit says why a collective's sizes do not fit, and is empty where they do.
func misfit(o ops.Op, ranks int64) string {
	v := volumes(o)
	fits, known := map[hostir.Kind]bool{
		hostir.AllGather:     v[1] == ranks*v[0],
		hostir.ReduceScatter: v[0] == ranks*v[1],
		hostir.AllReduce:     v[0] == v[1],
		hostir.AllToAll:      v[0] == v[1] && v[0]%ranks == 0,
		hostir.Exchange:      true, // the other ranks' sizes decide
	}[hostir.Kind(o.Form)]
	switch {
	case !known:
		return fmt.Sprintf("there is no collective %q", o.Form)
	case !fits || len(o.Reads()) > 1 || len(o.Writes()) > 1 || len(o.Uses) < 2 && o.Form != exchange:
		return fmt.Sprintf("no %s of %d ranks makes %d bytes of %d", o.Form, ranks, v[1], v[0])
	}
	for _, u := range o.Uses {
		if ops.OfStream(u.At) {
			return fmt.Sprintf("a collective uses %s", u)
		}
	}
	return ""
}

// inTurn: a rank's collectives come one after the other, by its streams and events. A captured graph keeps no other
// order, and ranks that enqueue two collectives in different orders hang.
func (p *proof) inTurn() *Counterexample {
	type operation struct {
		kind          nodeKind
		run, rank, op int32
	}
	at := map[operation]int32{}
	for n, x := range p.nodes {
		if x.kind == enter || x.kind == leave {
			at[operation{x.kind, x.run, x.rank, x.op}] = int32(n)
		}
	}
	var pairs []pair
	for r, list := range p.lists {
		mine := collectives(list)
		for run := range int32(p.runs) {
			for k := 1; k < len(mine); k++ {
				pairs = append(pairs, pair{at[operation{leave, run, int32(r), int32(mine[k-1])}],
					at[operation{enter, run, int32(r), int32(mine[k])}]})
			}
		}
	}
	wrong, found := p.unordered(pairs)
	if !found {
		return nil
	}
	return p.against(Agreement, wrong.from, wrong.to, "nothing orders two collectives of one rank",
		"enqueue all collectives on one stream")
}

// sent is the data of a rank in a collective: chunks in a row.
type sent struct {
	exprs []expr
	sizes []int64
}

// part is the chunks of one of a number of equal parts. ok is false where a part is not whole chunks.
func (m sent) part(i, of int) (s sent, ok bool) {
	total := int64(0)
	for _, n := range m.sizes {
		total += n
	}
	from, to, at := total/int64(of)*int64(i), total/int64(of)*int64(i+1), int64(0)
	for j, n := range m.sizes {
		if at >= from && at+n <= to {
			s.exprs, s.sizes = append(s.exprs, m.exprs[j]), append(s.sizes, n)
		} else if at < to && at+n > from {
			return s, false
		}
		at += n
	}
	return s, true
}

// bring keeps the data of a rank in a collective as they are when the rank begins it.
func (s *symbols) bring(n int32) *Counterexample {
	x, o := s.nodes[n], s.operation(n)
	from := &chunks{} // an empty part
	if len(o.Reads()) > 0 {
		from = s.at(o.Source(), s.nodes[n].run)
	}
	if from == nil {
		return s.wrong(n, fmt.Sprintf("%s: these are not whole chunks", o.Source()))
	}
	for i, e := range from.exprs() {
		if e == stale {
			return s.misread(n, from, i)
		}
	}
	if s.brought == nil {
		s.brought = map[[3]int32][]sent{}
	}
	at := s.collective(x)
	if s.brought[at] == nil {
		s.brought[at] = make([]sent, len(s.lists))
	}
	s.brought[at][x.rank] = sent{from.exprs(), from.sizes}
	return nil
}

// collective is the run of a node, its communicator and the number of its collective there.
func (s *symbols) collective(x node) [3]int32 {
	return [3]int32{x.run, int32(s.rail(x.rank)), int32(len(collectives(s.lists[x.rank][:x.op])))}
}

// get writes a rank's result of a collective: parts of the data of all, one after the other or added
// up. NCCL promises no order of a sum, and promises that all ranks get the same.
func (s *symbols) get(n int32) *Counterexample {
	x, o := s.nodes[n], s.operation(n)
	if len(o.Writes()) == 0 { // agreement: nothing comes
		return nil
	}
	form, to := hostir.Kind(o.Form), s.at(o.Result(), s.nodes[n].run)
	if to == nil {
		return s.wrong(n, fmt.Sprintf("%s: these are not whole chunks", o.Result()))
	}
	var row sent
	var terms []sent
	members := s.members(int(x.rank))
	if form == hostir.Exchange {
		members = []int{o.From}
	}
	for _, r := range members {
		m := s.brought[s.collective(x)][r]
		if form == hostir.ReduceScatter || form == hostir.AllToAll {
			mine, ok := m.part(slices.Index(members, int(x.rank)), len(members))
			if !ok {
				return s.wrong(n, fmt.Sprintf("the part of rank %d is not whole chunks", x.rank))
			}
			m = mine
		}
		terms = append(terms, m)
		row.exprs, row.sizes = append(row.exprs, m.exprs...), append(row.sizes, m.sizes...)
	}
	made := row
	if form == hostir.ReduceScatter || form == hostir.AllReduce {
		made = sent{sizes: terms[0].sizes}
		for i := range terms[0].exprs {
			var list []expr
			for _, m := range terms {
				if !slices.Equal(m.sizes, made.sizes) {
					return s.wrong(n,
						fmt.Sprintf("chunks of %v bytes can't be added to chunks of %v", m.sizes, made.sizes))
				}
				list = append(list, m.exprs[i])
			}
			made.exprs = append(made.exprs, s.sum(list))
		}
	}
	if !slices.Equal(made.sizes, to.sizes) {
		return s.wrong(n, fmt.Sprintf("chunks of %v bytes can't be put into chunks of %v", made.sizes, to.sizes))
	}
	return s.write(n, false, to, made.exprs)
}
