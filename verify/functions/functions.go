package functions

import (
	"maps"
	"math"
	"slices"
)

// Function is a function of each element.
type Function struct {
	Of    func(x float64) float64
	Slope float64 // the greatest: it widens an error so much
	// Unit is a whole number: of a positive multiple of it the function is that multiple, and of any other 0, to the
	// last bit of fp32.
	Unit int
	// Product and Kernel are the error that the function of x in fp32 may have: by a product that applies the function,
	// and by a kernel of the function's own. They are nil where there is none.
	Product, Kernel func(x float64) float64
}

// rows are the functions by their names in schedules.
var rows = map[string]Function{
	"relu": {Of: relu, Slope: 1, Unit: 1, Product: exact, Kernel: exact},
	"gelu": {Of: gelu, Slope: 1.13, Unit: 16, Product: geluByProduct, Kernel: geluByKernel},
	"silu": {Of: silu, Slope: 1.1, Unit: 128, Kernel: siluByKernel},
	// Times the element of another tensor.
	"swiglu": {Of: silu, Slope: 1.1, Unit: 128, Kernel: siluByKernel},
	"geglu":  {Of: gelu, Slope: 1.13, Unit: 16, Kernel: geluByKernel},
}

// Find is the function of that name.
func Find(name string) (f Function, ok bool) {
	f, ok = rows[name]
	return f, ok
}

// OfProducts are the names of the functions that products apply, sorted.
func OfProducts() []string {
	names := slices.Sorted(maps.Keys(rows))
	return slices.DeleteFunc(names, func(name string) bool { return rows[name].Product == nil })
}

// single is the rounding of fp32.
const single = 0x1p-24

func exact(float64) float64 { return 0 }

func relu(x float64) float64 { return max(x, 0) }

func gelu(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

// geluByProduct: the library takes the GPU's own tanh.
func geluByProduct(x float64) float64 { return 0x1p-11 * math.Abs(x) }

// geluByKernel: an exponential and a division; the error grows with the exponential's argument, which is rounded.
func geluByKernel(x float64) float64 {
	return (16 + 8*math.Abs(x+0.05*x*x*x)) * single * math.Abs(gelu(x))
}

func silu(x float64) float64 { return x / (1 + math.Exp(-x)) }

func siluByKernel(x float64) float64 { return 16 * single * math.Abs(silu(x)) }
