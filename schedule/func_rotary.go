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

// HeadWidth is how many columns the heads have that a table turns: W, or a constant that is even.
func (s Schedule) HeadWidth(table string) (Extent, error) {
	t, _ := s.Tensor(table)
	if len(t.Axes) != 2 {
		return "", fmt.Errorf("%s has no rows and columns", table)
	}
	width := t.Axes[1].Extent
	if !width.ofHead(true) {
		return "", fmt.Errorf("the width of a head is an even number or W, and %s has %q columns", table, width)
	}
	return width, nil
}

// ofHead says that a head may be as wide: W, or a number, which is even where pairs of columns are turned.
func (e Extent) ofHead(turned bool) bool {
	n, err := strconv.Atoi(string(e))
	return e == W || err == nil && n > 0 && (n%2 == 0 || !turned)
}
