package prove

import "testing"

// A function of each element of parts of columns, side by side, is that of all columns; no other one is, nor of parts
// in another order.
func TestFunctionOfColumns(t *testing.T) {
	e := newExpressions(&Model{})
	x, beside := e.input(0, 0, 0, 0), e.input(0, 1, 0, 0)
	of := func(columns int64, heads []int64, args ...expr) expr {
		return e.formula("f", columns, heads, []int64{16, 16}, args)
	}
	part := func(x expr, i int) expr { return e.columnsOf(x, i, 2) }
	for _, test := range []struct {
		name    string
		columns int64
		heads   []int64
		order   [2]int
		equal   bool
	}{
		{"of each element", 0, nil, [2]int{0, 1}, true},
		{"in another order", 0, nil, [2]int{1, 0}, false},
		{"one part twice", 0, nil, [2]int{0, 0}, false},
		{"of rows", 5, nil, [2]int{0, 1}, false},
		{"of heads", 0, []int64{4}, [2]int{0, 1}, false},
	} {
		var parts []expr
		for _, i := range test.order {
			parts = append(parts, of(test.columns, test.heads, part(x, i), part(beside, i)))
		}
		got := e.sideBySide(parts) == of(test.columns, test.heads, x, beside)
		if got != test.equal {
			t.Errorf("%s: the whole is the parts: %v, want %v", test.name, got, test.equal)
		}
	}
	if e.sideBySide([]expr{of(0, nil, part(x, 0)), part(x, 1)}) == of(0, nil, x) {
		t.Error("a part without the function is taken for one with it")
	}
}
