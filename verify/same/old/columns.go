package old

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// A product whose weight, bias and result are all spread over the ranks by the columns of the result, a
// column-parallel layer, is lowered like one with whole tensors: a rank multiplies its columns.

// columns finds these tensors. It refuses a product if only some of its tensors are spread so.
func columns(d *draft) error {
	d.columns = map[string]int{}
	if d.form.kind == gradient {
		d.sides()
		return nil
	}
	if d.form.kind != linear && d.form.kind != matmul {
		return nil
	}
	tensors := d.schedule.Tensors
	if b, _ := d.schedule.Tensor("B"); overRanks(b, 1-d.form.columns("B")) {
		return nil // the axis of the sum is spread
	}
	if c, _ := d.schedule.Tensor("C"); overRanks(c, 0) {
		return nil // each rank multiplies its own rows, and gathers the weight
	}
	for _, b := range tensors {
		if !strings.HasPrefix(b.Name, "B") || !overRanks(b, d.form.columns(b.Name)) {
			continue
		}
		for i, t := range tensors {
			axis := d.form.columns(t.Name)
			if axis < 0 || number(t.Name) != number(b.Name) {
				continue
			}
			if !overRanks(t, axis) {
				return d.apart(i, axis, b.Name)
			}
			d.columns[t.Name] = axis
		}
	}
	return nil
}

// apart is the refusal of a result with all columns, where its weight has only a rank's columns.
func (d *draft) apart(i, axis int, weight string) error {
	t := d.schedule.Tensors[i]
	name, each := d.form.tensor(t.Name), d.form.tensor(weight)
	hint := fmt.Sprintf("spread it as well, by schedule.DIDx(schedule.D), and gather %s afterwards; or let each rank "+
		"have a whole %s", d.form.tensor("C"+number(weight)), each)
	of := ""
	if strings.HasPrefix(t.Name, "C") {
		hint += ", or rows of its own, for which it gathers " + each
		switch {
		case d.form.kind == matmul:
			of = " of a matmul"
		case len(t.Axes[0].Outer) > 0:
			of, hint = " in steps", "make all rows at once; or "+hint
		}
	}
	return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Axes[%d]", i, axis), Hint: hint,
		Msg: fmt.Sprintf("%s has all columns %s, and %s is spread over the ranks by them: no pass gathers columns%s",
			name, t.Axes[axis].Extent, each, of)}
}

// columns is the tensor's axis with the result's columns; below zero: none.
func (f form) columns(role string) int {
	switch strings.TrimSuffix(role, number(role)) {
	case "B":
		if f.kind == matmul {
			return 1
		}
		return 0
	case "Bias":
		return 0
	case "C":
		return 1
	}
	return -1
}

// number is the product's of a role, empty for the first.
func number(role string) string { return role[len(strings.TrimRight(role, "0123456789")):] }

// overRanks says that an axis is spread over the ranks and not cut otherwise.
func overRanks(t schedule.Tensor, axis int) bool {
	return axis >= 0 && axis < len(t.Axes) &&
		slices.Equal(t.Axes[axis].Outer, []schedule.Split{schedule.DIDx(schedule.D)})
}

// ownColumns is a tensor without the split that leaves each rank its columns.
func (d *draft) ownColumns(t schedule.Tensor) schedule.Tensor {
	if axis, ok := d.columns[t.Name]; ok {
		t.Axes = slices.Clone(t.Axes)
		t.Axes[axis].Outer = nil
	}
	return t
}

// sides finds the operand of a gradient whose columns are spread over the ranks, as rows or columns of the result are:
// a rank makes the gradient of its part of the weight.
func (d *draft) sides() {
	c, _ := d.schedule.Tensor("C")
	for axis, role := range []string{"A", "B"} {
		if t, _ := d.schedule.Tensor(role); overRanks(t, 1) && overRanks(c, axis) {
			d.columns[role], d.columns["C"] = 1, axis
		}
	}
}
