package functions

import (
	"maps"
	"math"
	"slices"
)

// Function is a function of each element.
type Function struct {
	Of func(x float64) float64
	// Unit is a whole number: of a positive multiple of it the function is that multiple, and of any other 0, to the
	// last bit of fp32.
	Unit int
}

// rows are the functions by their names in schedules.
var rows = map[string]Function{
	"relu": {Of: func(x float64) float64 { return max(x, 0) }, Unit: 1},
	"gelu": {Of: gelu, Unit: 16},
}

// Find is the function of that name.
func Find(name string) (f Function, ok bool) {
	f, ok = rows[name]
	return f, ok
}

// OfProducts are the names of all functions, sorted.
func OfProducts() []string { return slices.Sorted(maps.Keys(rows)) }

func gelu(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}
