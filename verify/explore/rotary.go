package explore

import (
	"fmt"
	"strconv"
	"strings"

	"ovgen/schedule"
)

// A rotary embedding makes an element of the two of its pair, and of the cosine and the sine that its row has for it.

// turnedOf is one of a pair, second in its head or first.
func turnedOf(function string, x, y, cosine, sine Number, second bool) Number {
	return mixed(hashed(fmt.Sprint(function, second)), uint64(x), uint64(y), uint64(cosine), uint64(sine))
}

// headWidth is the number at the end of the name of a rotary embedding.
func headWidth(function string) (width int, ok bool) {
	text, found := strings.CutPrefix(function, string(schedule.ApplyRotary))
	width, err := strconv.Atoi(text)
	return width, found && err == nil && width > 0
}

// turned is a rotary embedding of the first operand by the second, a table.
func turned(function string, operands [][]Number, size, width int) []Number {
	if len(operands) != 2 || len(operands[0]) != size || len(operands[1]) == 0 || len(operands[1])%width != 0 {
		return nil
	}
	x, table, rows := operands[0], operands[1], len(operands[1])/width
	if size%(rows*width) != 0 {
		return nil
	}
	made, columns, half := make([]Number, size), size/rows, width/2
	for i := range made {
		j := i % columns % width
		first := i - j + j%half
		angles := table[i/columns*width:][:width]
		made[i] = turnedOf(function, x[first], x[first+half], angles[j%half], angles[j%half+half], j >= half)
	}
	return made
}

// turned is an element of a result that its n-th function, a rotary embedding, turns.
func (m *meaning) turned(run int, op schedule.Op, n int, index []int64) Number {
	turns := op.Then[n]
	table := turns.In[0]
	width := m.sizes(table)[1]
	j, half := index[1]%width, width/2
	op.Then = op.Then[:n]
	before := func(column int64) Number { return m.made(run, op, []int64{index[0], column}) }
	angle := func(j int64) Number { return m.element(run, table, []int64{index[0], j}) }
	first := index[1] - j + j%half
	return turnedOf(fmt.Sprint(turns.Do, width), before(first), before(first+half), angle(j%half),
		angle(j%half+half), j >= half)
}
