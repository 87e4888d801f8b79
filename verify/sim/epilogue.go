package sim

import (
	"math"

	"ovgen/runtime/driver"
)

// epilogues are the functions that products apply. They are written apart from the formulas of schedules: no simulated
// program links them.
var epilogues = map[driver.Func]func(x float64) float64{
	"":     func(x float64) float64 { return x },
	"relu": func(x float64) float64 { return max(x, 0) },
	"gelu": func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	},
}
