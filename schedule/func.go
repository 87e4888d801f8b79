package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Func is applied to a result, element by element or row by row; it may take further operands. It is one with a name in
// Do, or any other one that Is says.
type Func struct {
	Do FuncKind `json:",omitempty"`
	In []string `json:",omitempty"` // the further operands of one with a name
	// Epsilon is the number that a norm with a name adds to the mean of squares; 0 means DefaultEpsilon.
	Epsilon float64 `json:",omitempty"`
	// Word of one without a name is for texts: "softcap".
	Word string `json:",omitempty"`
	// Is is what one without a name does.
	Is Expr `json:",omitzero"`
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

// function describes a function with a name.
type function struct {
	by   parts // the parts of a program that can apply it
	norm bool  // a result depends on the whole row
	cast bool  // it takes elements of one type to another
}

// parts apply functions: the library of products, behind a product; the kernel that adds up partial results,
// behind their sum; or a kernel of the function's own.
type parts struct{ product, sum, kernel bool }

// funcs are all functions.
var funcs = map[FuncKind]function{
	AddBias:        {by: parts{product: true, sum: true}},
	AddTensor:      {by: parts{sum: true}},
	ApplyGELU:      {by: parts{product: true, kernel: true}},
	ApplyReLU:      {by: parts{product: true, kernel: true}},
	ApplySiLU:      {by: parts{kernel: true}},
	ApplySwiGLU:    {by: parts{kernel: true}},
	ApplyGeGLU:     {by: parts{kernel: true}},
	ApplyRMSNorm:   {by: parts{kernel: true}, norm: true},
	ApplyLayerNorm: {by: parts{kernel: true}, norm: true},
	ApplyRotary:    {by: parts{kernel: true}},
	ApplyFromFP32:  {by: parts{kernel: true}, cast: true},
	ApplyToFP32:    {by: parts{sum: true}, cast: true},
}

// Reads are the tensors that the function reads beside X.
func (f Func) Reads() (names []string) {
	if f.Do != "" {
		return f.In
	}
	for _, o := range f.Operands() {
		names = append(names, o.Tensor)
	}
	return names
}

// Operands are the tensors that the function reads beside X, and how they lie; those of one with a name are in the
// order of In.
func (f Func) Operands() []Operand {
	if f.Do == "" {
		return Operands(Nodes(f.Is))
	}
	list := make([]Operand, len(f.In))
	for i, name := range f.In {
		list[i].Tensor = name
		if lies := libraryLies[f.Do]; len(lies) == len(f.In) {
			list[i].Lies = lies[i]
		}
	}
	return list
}

// libraryLies is how the operands of each function of the library lie.
var libraryLies = func() map[FuncKind][]Lies {
	all := map[FuncKind][]Lies{}
	for kind, e := range library {
		in, lies := make([]string, e.operands), make([]Lies, e.operands)
		for i := range in {
			in[i] = strconv.Itoa(i) // one tensor may be several operands
		}
		for _, o := range Operands(Nodes(e.tree(in))) {
			i, _ := strconv.Atoi(o.Tensor)
			lies[i] = o.Lies
		}
		all[kind] = lies
	}
	return all
}()

// Name is the function's name, or its word; "a formula" where it has neither.
func (f Func) Name() string { return cmp.Or(string(f.Do), f.Word, "a formula") }

// String is "bias(Bias)", "gelu", "rmsnorm(Norm, epsilon 1e-06)" or, of a function without a name, its word and its
// formula: "softcap(30*tanh(x/30))".
func (f Func) String() string {
	if f.Do == "" {
		return f.Word + "(" + f.Is.String() + ")"
	}
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
	return known && library[f.Do].operands == 0 && !x.norm && !x.cast
}

// Norm says that each element of the result depends on the whole row.
func (f Func) Norm() bool { return funcs[f.Do].norm }

// Row says that operand i is a row of numbers, the same for each row of the result.
func (f Func) Row(i int) bool {
	list := f.Operands()
	return i < len(list) && list[i].Lies == ByColumn
}

// ByProduct says that the library of products applies the function, behind a product.
func (f Func) ByProduct() bool { return funcs[f.Do].by.product }

// BySum says that the kernel which adds up partial results applies the function, behind their sum.
func (f Func) BySum() bool { return funcs[f.Do].by.sum }

// ByKernel says that the function has a kernel of its own.
func (f Func) ByKernel() bool { return funcs[f.Do].by.kernel }
