package old

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// applied says who applied a function, and that it took whole rows.
type applied struct{ product, sum, kernel, norm bool }

var applies = map[schedule.FuncKind]applied{
	schedule.AddBias:        {product: true, sum: true},
	schedule.AddTensor:      {sum: true},
	schedule.ApplyGELU:      {product: true, kernel: true},
	schedule.ApplyReLU:      {product: true, kernel: true},
	schedule.ApplySiLU:      {kernel: true},
	schedule.ApplySwiGLU:    {kernel: true},
	schedule.ApplyGeGLU:     {kernel: true},
	schedule.ApplyRMSNorm:   {kernel: true, norm: true},
	schedule.ApplyLayerNorm: {kernel: true, norm: true},
	schedule.ApplyRotary:    {kernel: true},
	schedule.ApplyFromFP32:  {kernel: true},
	schedule.ApplyToFP32:    {sum: true},
}

// row says that operand i of a function was a row.
func row(f schedule.Func, i int) bool {
	list := f.Operands()
	return i < len(list) && list[i].Lies == schedule.ByColumn
}

// headWidth is how many columns the heads had that a table turned.
func headWidth(s schedule.Schedule, table string) (schedule.Extent, error) {
	t, _ := s.Tensor(table)
	if len(t.Axes) != 2 {
		return "", fmt.Errorf("%s has no rows and columns", table)
	}
	return t.Axes[1].Extent, nil
}

// make is what functions make of x together.
func (w *writer) make(on hostir.StreamRef, o schedule.Op, list []schedule.Func, rank hostir.Expr,
	x hostir.View) hostir.Step {
	var trees []schedule.Expr
	var operands []hostir.View
	for _, f := range list {
		trees = append(trees, w.schedule.Tree(f))
	}
	for _, operand := range schedule.Operands(schedule.Nodes(trees...)) {
		if operand.Lies == schedule.ByColumn {
			operands = append(operands, hostir.Whole(operand.Tensor))
		} else {
			operands = append(operands, w.rowsAt(operand.Tensor, rank))
		}
	}
	columns := extent(w.columnsOf(o.Out).Extent)
	if w.chain.at[o.Out].columns {
		columns = hostir.Div(columns, hostir.Size)
	}
	return hostir.MakeOf(on, list[0].Name(), trees, columns, w.rowsAt(o.Out, rank), x, operands...)
}
