package ops

import (
	"fmt"
	"maps"

	"ovgen/schedule/hostir"
)

// view is the start of a view, and its number of bytes.
func (u *unroller) view(v hostir.View) (Loc, int64) {
	b, ok := u.program.Buffer(v.Buffer)
	if !ok {
		u.fail(fmt.Errorf("no buffer %s", v.Buffer))
		return Loc{}, 0
	}
	at := Loc{Rank: u.c.Rank, Buffer: v.Buffer}
	if !v.Peer.IsZero() {
		at.Rank = int(u.eval(v.Peer))
	}
	if !v.Index.IsZero() && v.Columns == b.Rows.IsZero() {
		u.fail(fmt.Errorf("%s: chunks are parts of columns where the buffer has rows for them, and nowhere else", v))
		return Loc{}, 0
	}
	if v.Index.IsZero() && b.Counts.IsZero() {
		return at, u.bytes(b, b.Elements)
	}
	first, count := int64(0), int64(1)
	if !v.Index.IsZero() {
		first = u.eval(v.Index)
	}
	if !v.Count.IsZero() {
		count = u.eval(v.Count)
	}
	if !b.Room.IsZero() {
		room := u.bytes(b, b.Room)
		at.Offset = first * room
		if v.Padded {
			return at, count * room
		}
		return at, u.chunks(b, at.Rank, first, count)
	}
	at.Offset = u.chunks(b, at.Rank, 0, first)
	return at, u.chunks(b, at.Rank, first, count)
}

// bytes is the size of a number of a buffer's elements.
func (u *unroller) bytes(b hostir.Buffer, elements hostir.Expr) int64 {
	n, err := b.Bytes(u.eval(elements), u.c.ElementBits)
	if err != nil {
		u.fail(err)
	}
	return n
}

// chunks is the number of bytes of consecutive chunks of a buffer on a rank.
func (u *unroller) chunks(b hostir.Buffer, rank int, first, count int64) int64 {
	bytes := u.bytes(b, b.Chunk)
	if b.Counts.IsZero() {
		return count * bytes
	}
	env := maps.Clone(u.env)
	var rows int64
	for c := first; c < first+count && u.err == nil; c++ {
		env["q"], env["c"] = int64(rank), c
		i, err := b.Counts.Eval(env)
		if err == nil && (i < 0 || i >= int64(len(u.c.Counts))) {
			err = fmt.Errorf("chunk %d of %s@%d: no count %d", c, b.Name, rank, i)
		}
		if err != nil {
			u.fail(err)
			return 0
		}
		rows += u.c.Counts[i]
	}
	return rows * bytes
}

// peers lists one peer, or all peers on this host in the order r+1, r+2, ...
func (u *unroller) peers(one hostir.Expr) []int {
	if !one.IsZero() {
		return []int{int(u.eval(one))}
	}
	each := u.c.Ranks / max(u.c.Hosts, 1)
	first := u.c.Rank / each * each
	var all []int
	for i := 1; i < each; i++ {
		all = append(all, first+(u.c.Rank-first+i)%each)
	}
	return all
}

// word is the word of a semaphore's member that a poster writes.
func (u *unroller) word(waiter int, w hostir.Word, poster int) Loc {
	member := int64(0)
	if !w.Index.IsZero() {
		member = u.eval(w.Index)
	}
	return Loc{Rank: waiter, Buffer: w.Semaphore, Offset: 4 * (member*int64(u.c.Ranks) + int64(poster))}
}

// streams lists the streams of references, with ranges spelled out.
func (u *unroller) streams(refs []hostir.StreamRef) []string {
	var names []string
	for _, r := range refs {
		if r.To.IsZero() {
			names = append(names, u.stream(r))
			continue
		}
		for i, to := u.eval(r.From), u.eval(r.To); i < to; i++ {
			names = append(names, fmt.Sprintf("%s[%d]", r.Set, i))
		}
	}
	return names
}

func (u *unroller) stream(r hostir.StreamRef) string {
	if r.Index.IsZero() {
		return r.Set
	}
	return fmt.Sprintf("%s[%d]", r.Set, u.eval(r.Index))
}

func (u *unroller) eval(e hostir.Expr) int64 {
	if u.err != nil {
		return 0
	}
	v, err := e.Eval(u.env)
	if err != nil {
		u.fail(err)
	}
	return v
}
