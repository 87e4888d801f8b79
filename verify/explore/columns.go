package explore

import (
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Columns is how a buffer's columns are cut into parts. Operations count its elements part by part, and in each row by
// row.
type Columns struct{ Rows, Parts int }

// order are the elements of so many, numbered row by row, in the order in which operations count them.
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

// rowByRow are elements that operations count part by part.
func (c Columns) rowByRow(list []Number) []Number {
	rows := make([]Number, len(list))
	for i, at := range c.order(len(list)) {
		rows[at] = list[i]
	}
	return rows
}

// inParts are the places of a buffer in the order in which operations count them.
func (s *System) inParts(places []int64, b hostir.Buffer, env hostir.Env) ([]int64, error) {
	if b.Rows.IsZero() {
		return places, nil
	}
	rows, err := b.Rows.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("cut the columns of %s: %w", b.Name, err)
	}
	chunk, err := b.Chunk.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("cut the columns of %s: %w", b.Name, err)
	}
	n := int64(len(places))
	if rows <= 0 || chunk <= 0 || n%chunk != 0 || chunk%rows != 0 {
		return nil, fmt.Errorf("cut the columns of %s: %d elements of %d rows into parts of %d", b.Name, n, rows, chunk)
	}
	c := Columns{int(rows), int(n / chunk)}
	if c.Parts == 1 {
		return places, nil
	}
	if s.Columns == nil {
		s.Columns = map[string]Columns{}
	}
	s.Columns[b.Name] = c
	list := make([]int64, n)
	for i, at := range c.order(int(n)) {
		list[i] = places[at]
	}
	return list, nil
}

// checkColumns reports uses of parts of columns that a buffer does not have, and work that would take a buffer with
// such parts for one of rows.
func (m *machine) checkColumns(rank int, o *ops.Op) {
	for _, u := range o.Uses {
		if _, cut := m.Columns[u.At.Buffer]; cut != u.Columns || cut && o.Kind != ops.Copy {
			m.report(WellFormed, "rank %d: %s does not fit the rows and columns of the buffer: %s", rank, u, o)
		}
	}
}
