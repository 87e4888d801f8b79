package harness

import (
	"fmt"
	"strconv"

	"ovgen/verify/formula"
)

// Mismatch is the first wrong element that a rank found.
type Mismatch struct {
	Rank   int    `json:"rank"`
	Run    int    `json:"run"` // from 1
	Tensor string `json:"tensor"`
	Row    int    `json:"row"` // in the whole tensor, over all axes but the last
	Column int    `json:"column"`
	Got    string `json:"got"` // a NaN is no JSON number
	Want   string `json:"want"`
	Differ int    `json:"differ"` // the wrong elements of that tensor in that run
}

// Columns is the extent of a tensor's last axis, at least 1.
func (t *Tensors) Columns(name string) int {
	axes := t.Problem.Tensor(name).Axes
	columns, err := t.Problem.Extents.Of(axes[len(axes)-1].Extent)
	if err != nil {
		return 1
	}
	return max(columns, 1)
}

// mismatch describes element i of this rank's part of a tensor.
func (t *Tensors) mismatch(name string, i int, got float64, want formula.Value, differ int) *Mismatch {
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 32) }
	columns := t.Columns(name)
	at := t.Parts[name].At(i)
	m := &Mismatch{Tensor: name, Row: at / columns, Column: at % columns, Got: text(got), Want: text(want.Lo),
		Differ: differ}
	if !want.IsPoint() {
		m.Want += " to " + text(want.Hi)
	}
	return m
}

// String is "rank 2, run 3: C, row 5, column 7 is 1, want 2 (31 elements differ)".
func (m *Mismatch) String() string {
	return fmt.Sprintf("rank %d, run %d: %s, row %d, column %d is %s, want %s (%d elements of that run differ)",
		m.Rank, m.Run, m.Tensor, m.Row, m.Column, m.Got, m.Want, m.Differ)
}
