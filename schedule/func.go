package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Func is applied to a result, element by element or, a norm, row by row; it may take further operands.
type Func struct {
	Do FuncKind
	In []string // its further operands
	// Epsilon is the number that a norm adds to the mean of squares; 0 means DefaultEpsilon.
	Epsilon float64
}

// FuncKind names a function.
type FuncKind string

// Functions.
const (
	AddBias   FuncKind = "bias" // adds In[0], a value for each index of the result's last axis
	ApplyGELU FuncKind = "gelu" // x Φ(x), by the tanh approximation
)

// Bias adds a tensor [N] to each row of a result [M,N].
func Bias(tensor string) Func { return Func{Do: AddBias, In: []string{tensor}} }

// GELU is applied to each element.
func GELU() Func { return Func{Do: ApplyGELU} }

// function describes a function.
type function struct {
	in   []operand // its further operands
	by   parts     // the parts of a program that can apply it
	norm bool      // a result depends on the whole row
	cast bool      // it takes elements of one type to another
}

// operand of a function has the last axes of the result, a number of them or all; own: its last axis is another.
type operand struct {
	last int
	all  bool
	own  bool
}

// axes are the letters of an operand's axes, of a result's.
func (x operand) axes(out string) string {
	if x.all {
		return out
	}
	return out[max(len(out)-x.last, 0):]
}

// Operands.
var (
	row   = operand{last: 1}
	alike = operand{all: true}
	table = operand{last: 2, own: true}
)

// parts apply functions: the library of products, behind a product; the kernel that adds up partial results,
// behind their sum; or a kernel of the function's own.
type parts struct{ product, sum, kernel bool }

// funcs are all functions.
var funcs = map[FuncKind]function{
	AddBias:        {in: []operand{row}, by: parts{product: true, sum: true}},
	AddTensor:      {in: []operand{alike}, by: parts{sum: true}},
	ApplyGELU:      {by: parts{product: true, kernel: true}},
	ApplyReLU:      {by: parts{product: true, kernel: true}},
	ApplySiLU:      {by: parts{kernel: true}},
	ApplySwiGLU:    {in: []operand{alike}, by: parts{kernel: true}},
	ApplyGeGLU:     {in: []operand{alike}, by: parts{kernel: true}},
	ApplyRMSNorm:   {in: []operand{row}, by: parts{kernel: true}, norm: true},
	ApplyLayerNorm: {in: []operand{row, row}, by: parts{kernel: true}, norm: true},
	ApplyRotary:    {in: []operand{table}, by: parts{kernel: true}},
	ApplyFromFP32:  {by: parts{kernel: true}, cast: true},
	ApplyToFP32:    {by: parts{sum: true}, cast: true},
}

// Functions are the names of all functions, sorted.
func Functions() []FuncKind { return slices.Sorted(maps.Keys(funcs)) }

// String is "bias(Bias)", "gelu" or "rmsnorm(Norm, epsilon 1e-06)".
func (f Func) String() string {
	list := slices.Clone(f.In)
	if e := f.AddedToSquares(); e != 0 && e != DefaultEpsilon {
		list = append(list, fmt.Sprintf("epsilon %g", e))
	}
	if len(list) == 0 {
		return string(f.Do)
	}
	return string(f.Do) + "(" + strings.Join(list, ", ") + ")"
}

// Bias is the tensor that the operation adds to each row, empty where there is none.
func (o Op) Bias() string { return o.with(AddBias) }

// Added is the tensor that the operation adds to its result, empty where there is none.
func (o Op) Added() string { return o.with(AddTensor) }

// with is the operand of the first function of a kind that has one.
func (o Op) with(do FuncKind) string {
	for _, f := range o.Then {
		if f.Do == do && len(f.In) == 1 {
			return f.In[0]
		}
	}
	return ""
}

// Elementwise says that the function takes an element and nothing else, and makes one of its type.
func (f Func) Elementwise() bool {
	x, known := funcs[f.Do]
	return known && len(x.in) == 0 && !x.norm && !x.cast
}

// Norm says that each element of the result depends on the whole row.
func (f Func) Norm() bool { return funcs[f.Do].norm }

// Row says that operand i is a row of numbers, the same for each row of the result.
func (f Func) Row(i int) bool {
	in := funcs[f.Do].in
	return i < len(in) && in[i] == row
}

// ByProduct says that the library of products applies the function, behind a product.
func (f Func) ByProduct() bool { return funcs[f.Do].by.product }

// BySum says that the kernel which adds up partial results applies the function, behind their sum.
func (f Func) BySum() bool { return funcs[f.Do].by.sum }

// ByKernel says that the function has a kernel of its own.
func (f Func) ByKernel() bool { return funcs[f.Do].by.kernel }
