package reference

import (
	"math"

	"ovgen/schedule"
)

// function is a function of each element.
type function struct {
	of    func(float64) float64
	slope float64 // the largest: it widens an error so much
	own   float64 // how far off a GPU's own may be, of its argument
	// unit is a whole number: the function maps a positive multiple of unit to itself and any
	// other to 0, exactly.
	unit int
}

// functions by their names in schedules, of those that products apply.
var functions = map[schedule.FuncKind]function{
	schedule.ApplyGELU: {gelu, 1.13, 0x1p-11, 16},
	schedule.ApplyReLU: {func(x float64) float64 { return max(x, 0) }, 1, 0, 1},
}

func gelu(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}
