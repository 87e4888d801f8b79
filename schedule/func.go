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
	// Epsilon is the number that a norm with a name adds to the mean of squares; 0 means that of the Shape.
	Epsilon float64 `json:",omitempty"`
	// Word of one without a name is for texts: "softcap".
	Word string `json:",omitempty"`
	// Is is what one without a name does.
	Is Expr `json:",omitzero"`
	// Joins says that it adds partial results to those of the operation, before these meet. Joined finds that out.
	Joins bool `json:"-"`
}

// takers apply functions to what they make: the library of products, or the kernel that adds up partial results. A
// kernel of its own makes any other function.
type takers struct{ product, sum bool }

// taken are the functions that one of them applies.
var taken = map[FuncKind]takers{
	AddBias:     {product: true, sum: true},
	AddTensor:   {sum: true},
	ApplyGELU:   {product: true},
	ApplyReLU:   {product: true},
	ApplyToFP32: {sum: true},
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
	list := slices.Clone(f.In)
	if f.Do == "" {
		name, more := f.Is.InLibrary()
		if name == "" || name != f.Word {
			return f.Word + "(" + f.Is.String() + ")"
		}
		list = append(f.Reads(), more...)
	}
	if e := f.Epsilon; e != 0 {
		list = append(list, fmt.Sprintf("epsilon %g", e))
	}
	if len(list) == 0 {
		return f.Name()
	}
	return f.Name() + "(" + strings.Join(list, ", ") + ")"
}

// Bias is the tensor that the operation adds to each row, empty where there is none.
func (o Op) Bias() string { return o.with(AddBias) }

// Added is the tensor that the operation adds to its result, or to the sum, empty where there is none.
func (o Op) Added() string { return o.with(AddTensor) }

// with is the operand of the first function of a kind that has one.
func (o Op) with(do FuncKind) string {
	for _, f := range o.Then {
		if f.Do == do && len(f.In) == 1 && !f.Joins {
			return f.In[0]
		}
	}
	return ""
}

// Elementwise says that the function takes an element and nothing else, and makes one of its type.
func (f Func) Elementwise() bool {
	e, known := library[f.Do]
	return known && e.operands == 0 && !f.Cast()
}

// ByProduct says that the library of products applies the function, behind a product.
func (f Func) ByProduct() bool { return taken[f.Do].product }

// BySum says that the kernel which adds up partial results applies the function, behind their sum.
func (f Func) BySum() bool { return taken[f.Do].sum }
