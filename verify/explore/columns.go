package explore

import (
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Columns says how the columns of a buffer are cut into parts. Operations count the elements of such a buffer part by
// part, and row by row within a part.
type Columns struct{ Rows, Parts int }

// order lists the row-by-row numbers of n elements, in the order in which operations count them.
func (c Columns) order(n int) []int {
	list := make([]int, 0, n)
	row := n / c.Rows
	width := row / c.Parts
	for part := range c.Parts {
		for i := range c.Rows {
			for j := range width {
				list = append(list, i*row+part*width+j)
			}
		}
	}
	return list
}

// partByPart puts elements that lie row by row into the order in which operations count them.
func (c Columns) partByPart(list []Number) []Number {
	parts := make([]Number, len(list))
	for i, at := range c.order(len(list)) {
		parts[i] = list[at]
	}
	return parts
}

// rowByRow puts elements that operations count part by part back into the order of rows.
func (c Columns) rowByRow(list []Number) []Number {
	rows := make([]Number, len(list))
	for i, at := range c.order(len(list)) {
		rows[at] = list[i]
	}
	return rows
}

// cutColumns notes the parts of a buffer of n elements, if its columns are cut.
func (s *System) cutColumns(b hostir.Buffer, n int64, env hostir.Env) error {
	if b.Rows.IsZero() {
		return nil
	}
	rows, err := b.Rows.Eval(env)
	if err != nil {
		return fmt.Errorf("cut the columns of %s: %w", b.Name, err)
	}
	chunk, err := b.Chunk.Eval(env)
	if err != nil {
		return fmt.Errorf("cut the columns of %s: %w", b.Name, err)
	}
	if rows <= 0 || chunk <= 0 || n%chunk != 0 || chunk%rows != 0 {
		return fmt.Errorf("cut the columns of %s: %d elements of %d rows into parts of %d", b.Name, n, rows, chunk)
	}
	if n == chunk {
		return nil
	}
	if s.Columns == nil {
		s.Columns = map[string]Columns{}
	}
	s.Columns[b.Name] = Columns{int(rows), int(n / chunk)}
	return nil
}

// inParts puts the places of a buffer into the order in which operations count them.
func (s *System) inParts(buffer string, places []int64) []int64 {
	c, cut := s.Columns[buffer]
	if !cut {
		return places
	}
	list := make([]int64, len(places))
	for i, at := range c.order(len(places)) {
		list[i] = places[at]
	}
	return list
}

// checkColumns reports operations that use a part of columns of a buffer without parts, and operations that use some
// rows of a buffer with parts: a copy takes one part, and other work takes the whole buffer. within reports whether a
// buffer has that many bytes from a place on.
func (m *machine) checkColumns(rank int, o *ops.Op, within func(ops.Loc, int64) bool) {
	for _, u := range o.Uses {
		_, cut := m.Columns[u.At.Buffer]
		some := cut && !u.Columns && (u.At.Offset > 0 || within(u.At, u.Bytes+1))
		if some || u.Columns && (!cut || o.Kind != ops.Copy) {
			m.report(WellFormed, "rank %d: %s does not fit the rows and columns of the buffer: %s", rank, u, o)
		}
	}
}
