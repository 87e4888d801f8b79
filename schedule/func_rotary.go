package schedule

import (
	"fmt"
	"strconv"
)

// ApplyRotary turns pairs of columns of each row, as rotary embeddings of positions do. The columns are
// heads as wide as In[0], a tensor with a row for each row of the result: the first half of it are cosines, the
// second half sines. Column j of the first half of a head becomes x cos(j) - y sin(j) and its partner y, as
// far on in the second half, y cos(j) + x sin(j), each rounded once.
const ApplyRotary FuncKind = "rotary"

// Rotary turns the heads of a result by the angles of a table [rows, width of a head].
func Rotary(table string) Func { return Func{Do: ApplyRotary, In: []string{table}} }

// HeadWidth is how many columns the heads have that a table turns: a constant, even.
func (s Schedule) HeadWidth(table string) (int, error) {
	t, _ := s.Tensor(table)
	if len(t.Axes) != 2 {
		return 0, fmt.Errorf("%s has no rows and columns", table)
	}
	n, err := strconv.Atoi(string(t.Axes[1].Extent))
	if err != nil || n%2 != 0 || n < 2 {
		return 0, fmt.Errorf("the width of a head is an even number, and %s has %q columns", table, t.Axes[1].Extent)
	}
	return n, nil
}
