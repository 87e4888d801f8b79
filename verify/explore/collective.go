package explore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ovgen/verify/ops"
)

// A collective is two steps of a rank. The first step reads the rank's data. The second step writes the result, once
// all ranks of the communicator have taken their first steps. The second step of an exchange needs only the first step
// of the rank that it gets from. Both steps use all memory of the operation, since the transfer between them uses it
// too. Nothing says when another rank takes its second step.

// meeting has the steps of one collective in one run, two for each rank, and the data on their way.
type meeting struct {
	begins, ends []int32
}

// at names the n-th collective of a communicator in a run.
type at struct{ run, comm, n int }

// eachHost is the number of ranks on a host.
func (s *System) eachHost() int { return len(s.Ranks) / max(s.Hosts, 1) }

// comm is the communicator of a rank, and the number of its ranks.
func (s *System) comm(rank int) (number, ranks int) {
	if s.Hosts == 0 {
		return 0, len(s.Ranks)
	}
	return rank % s.eachHost(), s.Hosts
}

// place is the number of a rank in its communicator.
func (s *System) place(rank int) int {
	if s.Hosts == 0 {
		return rank
	}
	return rank / s.eachHost()
}

// collective adds the two steps of a collective. All such steps of a rank write one atom, so two collectives at once
// conflict: a communicator runs one at a time.
func (b *rankBuilder) collective(o *ops.Op) {
	comm, _ := b.comm(b.rank)
	which := at{b.run, comm, b.met}
	b.met++
	if r, w := len(o.Reads()), len(o.Writes()); r > 1 || w > 1 || r+w < 2 && o.Form != "exchange" {
		b.report(WellFormed, "rank %d: a collective reads one range and writes one: %s", b.rank, o)
		return
	}
	for _, u := range o.Uses {
		if u.At.Rank != b.rank {
			b.report(Owned, "rank %d: a collective uses memory of its own rank: %s", b.rank, o)
		}
	}
	var from, to []int32 // none where an exchange sends or gets an empty part
	for _, u := range o.Reads() {
		from = b.atoms.of(u)
	}
	for _, u := range o.Writes() {
		to = b.atoms.of(u)
	}
	if len(o.Uses) == 2 && !b.apart(o) {
		b.report(NoRace, "rank %d: a collective writes what ranks still send: %s", b.rank, o)
	}
	elements := 0
	if len(from) > 0 {
		elements = b.machine.count(o.Source())
	}
	message := b.atoms.addSized(fmt.Sprintf("message %d of rank %d in run %d", which.n+1, b.rank, b.run+1), elements)
	begin := &step{kind: access, op: o, name: "begin " + named(o), serialWait: true, reads: from,
		writes: append([]int32{message, b.communicators[b.rank]}, to...), message: message}
	end := &step{kind: access, op: o, name: "end " + named(o), ends: true, reads: from,
		writes: append([]int32{b.communicators[b.rank]}, to...), results: [][]int32{to}}
	m := b.meetings[which]
	m.begins, m.ends = append(m.begins, b.add(o.Stream, begin)), append(m.ends, b.add(o.Stream, end))
	b.meetings[which] = m
}

// apart reports whether a collective writes other memory than it reads, but for what NCCL does in place: it sums over
// the terms, and one of source and result may be the rank's part of the other.
func (b *rankBuilder) apart(o *ops.Op) bool {
	memory, from, to := span(o.Source())
	result, low, high := span(o.Result())
	mine := int64(b.place(b.rank))
	switch {
	case memory != result, to <= low, high <= from:
		return true
	case o.Form == "all-reduce":
		return from == low && to == high
	case o.Form == "all-gather":
		return from == low+mine*(to-from)
	}
	return o.Form == "reduce-scatter" && low == from+mine*(high-low)
}

// meet makes each rank's second step follow the first steps that it needs, and gives it their data.
func (m *machine) meet() {
	inOrder := slices.SortedFunc(maps.Keys(m.meetings), func(a, b at) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.n, b.n), cmp.Compare(a.comm, b.comm))
	})
	for _, which := range inOrder {
		x := m.meetings[which]
		first := m.steps[x.begins[0]].op
		if _, ranks := m.comm(m.steps[x.begins[0]].rank); len(x.begins) != ranks {
			m.report(Agreed, "%d of %d ranks have collective %d of a run: %s", len(x.begins), ranks, which.n+1, first)
		}
		for i, e := range x.ends {
			end := m.steps[e]
			if o := end.op; o.Form != first.Form || o.Form != "exchange" &&
				(o.Source().Bytes != first.Source().Bytes || o.Result().Bytes != first.Result().Bytes) {
				m.report(Agreed, "ranks differ in collective %d of a run: %s; %s", which.n+1, first, o)
			}
			for j, b := range x.begins {
				gets, needs := m.between(end, m.steps[b])
				if needs && i != j {
					end.before = append(end.before, b)
				}
				if a := m.steps[b].message; gets {
					end.reads, end.operands = append(end.reads, a), append(end.operands, []int32{a})
				}
			}
			if end.op.Form == "exchange" && len(end.operands) != 1 {
				m.report(Agreed, "rank %d gets from no rank of its communicator: %s", end.rank, end.op)
			}
		}
	}
}

// between reports whether the end of a rank's collective gets the data of another rank's begin, and whether it needs
// that begin.
func (m *machine) between(end, begin *step) (gets, needs bool) {
	if end.op.Form != "exchange" {
		return true, true
	}
	from, to := begin.rank == end.op.From, begin.rank == end.op.To
	if from && begin.op.To != end.rank {
		m.report(Agreed, "rank %d gets from rank %d, which sends to rank %d: %s", end.rank, begin.rank, begin.op.To,
			begin.op)
	}
	if sent, got := begin.op.Source().Bytes, end.op.Result().Bytes; from && sent != got {
		m.report(Agreed, "rank %d gets %d bytes from rank %d, which sends %d: %s", end.rank, got, begin.rank, sent,
			begin.op)
	}
	return from, from || to && m.Unbuffered
}

// together takes a step of a collective.
func (x *search) together(s *state, st *step) {
	if !st.ends {
		data := st.reads // of one range
		brought, text := x.elements(s, data), ""
		if len(data) > 0 {
			text = x.contents.text(s.holds[data[0]])
		}
		if c, cut := x.Columns[st.op.Source().At.Buffer]; cut {
			brought = c.rowByRow(brought)
		}
		for _, a := range st.writes {
			s.holds[a] = 0
		}
		x.put(s, []int32{st.message}, brought, text)
		return
	}
	var brought [][]Number
	for _, atoms := range st.operands {
		brought = append(brought, x.elements(s, atoms))
	}
	text := x.describe(s, st)
	for _, a := range st.writes {
		s.holds[a] = 0
	}
	made := x.gotten(st, brought)
	if c, cut := x.Columns[st.op.Result().At.Buffer]; cut && made != nil {
		made = c.partByPart(made)
	}
	x.put(s, st.results[0], made, text)
}

// gotten is a rank's result, made of the data of all ranks; nil where the sizes of the data do not fit.
func (x *search) gotten(st *step, brought [][]Number) (all []Number) {
	if _, ranks := x.comm(st.rank); st.op.Form != "exchange" && len(brought) != ranks {
		return nil
	}
	mine := brought
	if st.op.Form == "reduce-scatter" || st.op.Form == "all-to-all" {
		mine = nil
		for _, m := range brought {
			n := len(m) / len(brought)
			mine = append(mine, m[x.place(st.rank)*n:][:n])
		}
	}
	switch st.op.Form {
	case "reduce-scatter", "all-reduce":
		return x.added(mine, len(mine[0]))
	case "all-gather", "all-to-all", "exchange":
		for _, m := range mine {
			all = append(all, m...)
		}
	}
	return all
}
