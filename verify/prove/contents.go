package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// piece is a range of a buffer that holds one thing.
type piece struct {
	lo, hi int64
	value
	by int32 // the node that wrote it
}

// value is what bytes hold: nothing of the run, an input, or rows of the product.
type value struct {
	kind valueKind
	// Of an input: whose buffer, as the caller left it ahead of which run, and from
	// which byte. Of a product: those of the rows of A it was made of.
	buffer    string
	rank, run int32
	off       int64
}

type valueKind uint8

const (
	stale valueKind = iota // left from another run, another plan, or nothing
	input
	made
)

// contents: each row of C, when its rank's run ends, was written once in the run, by a
// product of the right rows of A, of B and of Bias as the callers left them ahead of
// that run. Without races every order of the nodes gives the same bytes, so they are
// followed in one.
func (p *proof) contents() *Counterexample {
	r := p.model.Result
	if r == nil {
		return nil
	}
	s := symbols{proof: p, Result: *r, memory: map[memory][]piece{}}
	for r := range p.lists {
		for _, b := range p.model.Buffers {
			s.memory[memory{r, b.Name}] = []piece{{hi: b.Bytes}}
		}
	}
	for n, x := range p.nodes {
		var c *Counterexample
		switch x.kind {
		case caller:
			if x.run > 0 {
				c = s.finished(int32(n))
			}
			s.overwrite(int32(n))
		case whole:
			c = s.run(int32(n))
		}
		if c != nil {
			return c
		}
	}
	return nil
}

type symbols struct {
	*proof
	Result
	memory map[memory][]piece
}

// overwrite is what the caller and other plans leave ahead of a run.
func (s *symbols) overwrite(n int32) {
	x := s.nodes[n]
	for _, b := range s.model.Buffers {
		v := value{kind: stale}
		if b.Owner == hostir.Caller && !b.Output {
			v = value{kind: input, buffer: b.Name, rank: x.rank, run: x.run}
		}
		s.memory[memory{int(x.rank), b.Name}] = []piece{{0, b.Bytes, v, n}}
	}
}

func (s *symbols) run(n int32) *Counterexample {
	o := s.operation(n)
	switch o.Kind {
	case ops.Copy:
		if len(o.Uses) != 2 || o.Uses[0].Write || !o.Uses[1].Write || o.Uses[0].Bytes != o.Uses[1].Bytes {
			return s.wrong(n, "this is no copy of one range to another of its size")
		}
		from, to := o.Uses[0], o.Uses[1]
		var copied []piece
		for _, q := range s.read(from) {
			if q.kind == made && (from.At.Offset%s.RowC != 0 || to.At.Offset%s.RowC != 0) {
				return s.wrong(n, "rows of the product are moved by part of a row")
			}
			q.lo, q.hi = q.lo-from.At.Offset+to.At.Offset, q.hi-from.At.Offset+to.At.Offset
			q.by = n
			copied = append(copied, q)
		}
		return s.write(n, to, copied)
	case ops.Product:
		return s.product(n, o)
	}
	return nil
}

// read is what a range holds. The pieces of a buffer leave no gap.
func (s *symbols) read(u ops.Use) []piece {
	var list []piece
	for _, q := range s.memory[memory{u.At.Rank, u.At.Buffer}] {
		if lo, hi := max(q.lo, u.At.Offset), min(q.hi, u.At.Offset+u.Bytes); lo < hi {
			list = append(list, s.cut(q, lo, hi))
		}
	}
	return list
}

// cut is part of a piece.
func (s *symbols) cut(q piece, lo, hi int64) piece {
	skip := lo - q.lo
	if q.kind == made {
		skip = skip / s.RowC * s.RowA
	}
	q.off += skip
	q.lo, q.hi = lo, hi
	return q
}

// write replaces a range by pieces. Output may be written once a run.
func (s *symbols) write(n int32, u ops.Use, with []piece) *Counterexample {
	m := memory{u.At.Rank, u.At.Buffer}
	lo, hi := u.At.Offset, u.At.Offset+u.Bytes
	var list []piece
	for _, q := range s.memory[m] {
		if q.lo < lo {
			list = append(list, s.cut(q, q.lo, min(q.hi, lo)))
		}
		if q.lo < hi && q.hi > lo && u.At.Buffer == s.C && s.nodes[q.by].kind == whole {
			c := s.against(Contents, q.by, n, fmt.Sprintf("bytes %d to %d of %s@%d are written twice in a run", max(lo, q.lo), min(hi, q.hi), m.buffer, m.rank),
				"give each step rows of its own")
			c.Missing = ""
			return c
		}
		if q.hi > hi {
			list = append(list, s.cut(q, max(q.lo, hi), q.hi))
		}
	}
	list = append(list, with...)
	slices.SortFunc(list, func(a, b piece) int { return int(a.lo - b.lo) })
	s.memory[m] = list
	return nil
}

// product writes rows made of what its operands hold.
func (s *symbols) product(n int32, o *ops.Op) *Counterexample {
	var reads, writes []ops.Use
	for _, u := range o.Uses {
		switch {
		case ofStream(u.At.Buffer):
		case u.Write:
			writes = append(writes, u)
		default:
			reads = append(reads, u)
		}
	}
	operands := 2
	if s.Bias != "" {
		operands = 3
	}
	if len(reads) != operands || len(writes) != 1 {
		return s.wrong(n, fmt.Sprintf("a product of %d operands and %d results, where %d and 1 are meant", len(reads), len(writes), operands))
	}
	c, a := writes[0], reads[0]
	if rows := c.Bytes / s.RowC; c.Bytes%s.RowC != 0 || c.At.Offset%s.RowC != 0 || a.Bytes != rows*s.RowA {
		return s.wrong(n, fmt.Sprintf("%d bytes of A are no operand of %d bytes of C", a.Bytes, c.Bytes))
	}
	for i, name := range []string{s.B, s.Bias}[:operands-1] {
		if c := s.operand(n, reads[i+1], name); c != nil {
			return c
		}
	}
	var rows []piece
	for _, q := range s.read(a) {
		if q.kind != input || q.buffer != s.A || (q.lo-a.At.Offset)%s.RowA != 0 || q.off%s.RowA != 0 {
			return s.misread(n, q, "rows of "+s.A)
		}
		at := c.At.Offset + (q.lo-a.At.Offset)/s.RowA*s.RowC
		v := q.value
		v.kind = made
		rows = append(rows, piece{at, at + (q.hi-q.lo)/s.RowA*s.RowC, v, n})
	}
	return s.write(n, c, rows)
}

// operand checks that a product reads all of an input of its own rank and run.
func (s *symbols) operand(n int32, u ops.Use, name string) *Counterexample {
	x := s.nodes[n]
	b, _ := s.model.buffer(name)
	if u.Bytes != b.Bytes {
		return s.wrong(n, fmt.Sprintf("%d bytes are read where all %d of %s are meant", u.Bytes, b.Bytes, name))
	}
	for _, q := range s.read(u) {
		want := value{kind: input, buffer: name, rank: x.rank, run: x.run, off: q.lo - u.At.Offset}
		if q.value != want {
			return s.misread(n, q, name+" of its rank and run")
		}
	}
	return nil
}

// finished checks C when a rank's run has ended; n is what its caller does then.
func (s *symbols) finished(n int32) *Counterexample {
	rank, run := s.nodes[n].rank, s.nodes[n].run-1
	a, _ := s.model.buffer(s.A)
	for _, q := range s.read(s.all(int(rank))) {
		if q.kind != made || q.lo%s.RowC != 0 || q.hi%s.RowC != 0 {
			return s.misread(n, q, "rows of the product")
		}
		for at := q.lo; at < q.hi; at += s.RowC {
			want := value{kind: made, buffer: s.A, rank: rank, run: run, off: at / s.RowC * s.RowA}
			if s.Sharded {
				want.rank, want.off = int32(want.off/a.Bytes), want.off%a.Bytes
			}
			if got := s.cut(q, at, at+s.RowC); got.value != want {
				c := s.against(Contents, q.by, -1, fmt.Sprintf("row %d of C@%d is made of %s, where %s is meant", at/s.RowC, rank, s.row(got.value), s.row(want)),
					"multiply the rows that belong to this part of C")
				return c
			}
		}
	}
	return nil
}

// all of C.
func (s *symbols) all(rank int) ops.Use {
	c, _ := s.model.buffer(s.C)
	return ops.Use{At: ops.Loc{Rank: rank, Buffer: s.C}, Bytes: c.Bytes}
}

// row names a row of A.
func (s *symbols) row(v value) string {
	return fmt.Sprintf("row %d of rank %d's A of run %d", v.off/s.RowA, v.rank, v.run+1)
}

// misread is the verdict on a read of something else than is meant.
func (s *symbols) misread(n int32, q piece, meant string) *Counterexample {
	holds := map[valueKind]string{stale: "what nothing in this run has written", made: "parts of rows of the product"}[q.kind]
	if q.kind == input {
		holds = fmt.Sprintf("bytes of rank %d's %s of run %d", q.rank, q.buffer, q.run+1)
	}
	c := s.against(Contents, q.by, n, fmt.Sprintf("bytes %d to %d hold %s, where %s are meant", q.lo, q.hi, holds, meant),
		"write them in this run and ahead of this, from the right place")
	c.Missing = "a write of these bytes between the two"
	return c
}

func (s *symbols) wrong(n int32, problem string) *Counterexample {
	return s.against(Contents, n, -1, problem, "check the sizes of the chunks")
}
