package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// bounds: every use lies inside a buffer that the model declares, on a rank that exists. Peers use a caller's buffer
// only if it is shared, and only a stream's rank uses the memory of the stream. No operation writes memory that it
// reads, since some of its parts write while others still read. There are exceptions: a product that adds to its
// result, a sum into one of its terms, and what NCCL does in place.
func (p *proof) bounds() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			before := o.Factors().Before
			for j, u := range o.Uses {
				for k, v := range o.Uses[:j] {
					kept := &o.Uses[k] == before && same(v, o.Result()) || inPlace(o.Kind, v, u) ||
						p.metInPlace(o, r, v, u)
					if (u.Write || v.Write) && overlap(u, v) && !kept {
						return p.against(Bounds, p.find(r, i), -1,
							fmt.Sprintf("one operation both uses and writes bytes of %s@%d", u.At.Buffer,
								u.At.Rank), "give its result memory of its own")
					}
				}
				if wrong := p.outside(r, u); wrong != "" {
					return p.against(Bounds, p.find(r, i), -1, wrong,
						"use memory that the program declares, at its size")
				}
			}
			if o.Accumulate && (before == nil || !same(*before, o.Result())) {
				return p.against(Bounds, p.find(r, i), -1,
					"a product that adds to its result reads something else last", "let it read its result")
			}
			if c := o.Count; c.Buffer != "" && (c.Rank != r || c.Offset != 0 ||
				!ops.IsCount(c)) {
				return p.against(Bounds, p.find(r, i), -1,
					fmt.Sprintf("%s is not the count word of one of the rank's streams",
						c), "count blocks in the stream's own word")
			}
		}
	}
	return nil
}

// inPlace reports whether operations of a kind may write the memory that they read. A sum may write one of its terms
// and a function one of its operands: each element is read before it is overwritten. A call may replace an operand as a
// whole.
func inPlace(kind ops.Kind, read, write ops.Use) bool {
	replaces := kind == ops.Sum || kind == ops.Apply || kind == ops.Call
	return replaces && !read.Write && write.Write && same(read, write)
}

// metInPlace reports whether a rank's collective may write the memory that it reads: sums for all where the terms are,
// all data where the rank's are at its place, or its sums at its place in what it brings.
func (p *proof) metInPlace(o ops.Op, rank int, read, write ops.Use) bool {
	i := int64(slices.Index(p.members(rank), rank))
	placed := func(part, all ops.Use) bool { // as the rank's part of all
		all.At.Offset, all.Bytes = all.At.Offset+i*part.Bytes, part.Bytes
		return same(part, all)
	}
	switch form := hostir.Kind(o.Form); {
	case o.Kind != ops.Collective, read.Write, !write.Write:
		return false
	case form == hostir.AllReduce:
		return same(read, write)
	case form == hostir.AllGather:
		return placed(read, write)
	default:
		return form == hostir.ReduceScatter && placed(write, read)
	}
}

// same reports whether two uses are of one range.
func same(u, v ops.Use) bool { return u.At == v.At && u.Bytes == v.Bytes }

// overlap reports whether two uses have bytes in common.
func overlap(u, v ops.Use) bool {
	return u.At.Rank == v.At.Rank && u.At.Buffer == v.At.Buffer && u.At.Offset < end(v) && v.At.Offset < end(u)
}

// end is the offset behind a use. Memory without a size, such as a workspace, counts as one byte.
func end(u ops.Use) int64 {
	if ops.OfStream(u.At) {
		return u.At.Offset + max(u.Bytes, 1)
	}
	return u.At.Offset + u.Bytes
}

// outside says why a use by a rank is out of bounds.
func (p *proof) outside(rank int, u ops.Use) string {
	at := u.At
	if at.Rank < 0 || at.Rank >= len(p.lists) {
		return fmt.Sprintf("%s: there is no rank %d", at, at.Rank)
	}
	if ops.OfStream(at) {
		switch {
		case at.Rank != rank:
			return fmt.Sprintf("%s is of another rank's stream", at)
		case at.Offset != 0:
			return fmt.Sprintf("%s is not where %s starts", at, at.Buffer)
		}
		return ""
	}
	b, ok := p.model.buffer(at.Buffer)
	cut := p.model.Columns[b.Name] > 1
	switch {
	case !ok:
		return fmt.Sprintf("%s: the program has no buffer %s", at, at.Buffer)
	case u.Bytes < 0 || at.Offset < 0 || at.Offset+u.Bytes > b.Bytes:
		return fmt.Sprintf("%s and %d bytes from there: %s has %d bytes", at, u.Bytes, b.Name, b.Bytes)
	case u.Columns && !cut || !u.Columns && cut && u.Bytes != b.Bytes:
		return fmt.Sprintf("%s takes a part of %s, whose parts are of columns: %t", u, b.Name, cut)
	case b.Root && at.Rank != 0:
		return fmt.Sprintf("%s: only rank 0 has %s", at, b.Name)
	case at.Rank != rank && !b.remote():
		return fmt.Sprintf("%s is the caller's and not shared with peers", at)
	}
	return ""
}
