package old

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Functions had names.
const (
	addBias        = "bias"
	addTensor      = "add"
	applyGELU      = "gelu"
	applyReLU      = "relu"
	applySiLU      = "silu"
	applySwiGLU    = "swiglu"
	applyGeGLU     = "geglu"
	applyRMSNorm   = "rmsnorm"
	applyLayerNorm = "layernorm"
	applyRotary    = "rotary"
	applyFromFP32  = "rounded"
	applyToFP32    = "tofp32"
)

// inFP32 are the functions that an operation had, with the cast of a sum that stays in fp32.
func inFP32(s schedule.Schedule, o schedule.Op) []schedule.Func {
	if s.InFP32(o) {
		return append(slices.Clip(o.Then), schedule.Func{Word: applyToFP32})
	}
	return o.Then
}

// do is the name of a function.
func do(f schedule.Func) string {
	if name, _ := f.Is.InLibrary(); name != applyFromFP32 || f.Word != applyToFP32 {
		return name
	}
	return applyToFP32
}

func cast(f schedule.Func) bool { return do(f) == applyFromFP32 || do(f) == applyToFP32 }

func elementwise(f schedule.Func) bool { return do(f) != "" && len(f.Reads()) == 0 && !cast(f) }

// applied says who applied a function, and that it took whole rows.
type applied struct{ product, sum, kernel, norm bool }

var applies = map[string]applied{
	addBias:        {product: true, sum: true},
	addTensor:      {sum: true},
	applyGELU:      {product: true, kernel: true},
	applyReLU:      {product: true, kernel: true},
	applySiLU:      {kernel: true},
	applySwiGLU:    {kernel: true},
	applyGeGLU:     {kernel: true},
	applyRMSNorm:   {kernel: true, norm: true},
	applyLayerNorm: {kernel: true, norm: true},
	applyRotary:    {kernel: true},
	applyFromFP32:  {kernel: true},
	applyToFP32:    {sum: true},
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
