package sim

import (
	"math"

	"ovgen/runtime/driver"
)

// epilogues are the functions that products apply, written apart from their formulas: no program that is simulated
// links these.
var epilogues = map[driver.Func]func(x float64) float64{
	"":     func(x float64) float64 { return x },
	"relu": func(x float64) float64 { return max(x, 0) },
	"gelu": func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	},
}
