package explore

import (
	"fmt"

	"ovgen/schedule"
)

// A rotary embedding makes an element of the two of its pair, and of the cosine and the sine that its row has for it.

// turnedOf is one of a pair of a head so wide, second or first.
func turnedOf(width int64, x, y, cosine, sine Number, second bool) Number {
	return mixed(hashed(fmt.Sprint(schedule.ApplyRotary, width, second)), uint64(x), uint64(y), uint64(cosine),
		uint64(sine))
}

// turned is a rotary embedding of the first operand by the second, a table.
func turned(operands [][]Number, size, width int) []Number {
	if width < 2 || width%2 != 0 || len(operands) != 2 {
		return nil
	}
	x, table, rows := operands[0], operands[1], len(operands[1])/width
	if len(x) != size || rows == 0 || len(table) != rows*width || size%(rows*width) != 0 {
		return nil
	}
	made, columns, half := make([]Number, size), size/rows, width/2
	for i := range made {
		j := i % columns % width
		first := i - j + j%half
		angles := table[i/columns*width:][:width]
		made[i] = turnedOf(int64(width), x[first], x[first+half], angles[j%half], angles[j%half+half], j >= half)
	}
	return made
}

// turned is an element of a result that its n-th function, a rotary embedding, turns.
func (m *meaning) turned(run int, op schedule.Op, n int, index []int64) Number {
	table := op.Then[n].In[0]
	width := m.sizes(table)[1]
	j, half := index[1]%width, width/2
	op.Then = op.Then[:n]
	before := func(column int64) Number { return m.made(run, op, []int64{index[0], column}) }
	angle := func(j int64) Number { return m.element(run, table, []int64{index[0], j}) }
	first := index[1] - j + j%half
	return turnedOf(width, before(first), before(first+half), angle(j%half),
		angle(j%half+half), j >= half)
}
