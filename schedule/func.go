package schedule

import "strings"

// Func is applied to a result, element by element or, a norm, row by row; it may take further operands.
type Func struct {
	Do FuncKind
	In []string // its further operands
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

// funcs describe the functions: the axes that each further operand has, counted from the end
// of the result's.
var funcs = map[FuncKind][]operand{
	AddBias:        {{last: 1}},
	AddTensor:      {{last: 2}},
	ApplyGELU:      {},
	ApplyReLU:      {},
	ApplySiLU:      {},
	ApplySwiGLU:    {{last: 2}},
	ApplyRMSNorm:   {{last: 1}},
	ApplyLayerNorm: {{last: 1}, {last: 1}},
	ApplyRotary:    {{last: 2, own: true}},
}

// operand of a function has the result's last axes, so many; own: but for its last one, which is its own.
type operand struct {
	last int
	own  bool
}

// String is "bias(Bias)" or "gelu".
func (f Func) String() string {
	if len(f.In) == 0 {
		return string(f.Do)
	}
	return string(f.Do) + "(" + strings.Join(f.In, ", ") + ")"
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

// Elementwise says that the function takes an element and nothing else.
func (f Func) Elementwise() bool {
	operands, known := funcs[f.Do]
	return known && len(operands) == 0
}
