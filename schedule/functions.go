package schedule

// FuncKind names a function.
type FuncKind string

// Functions with a name. Of operands that a function has, each is a tensor of the result's axes, or a value for each
// index of its last axis; a library's tree says which.
const (
	AddBias        FuncKind = "bias"      // adds In[0], a row
	AddTensor      FuncKind = "add"       // adds In[0]: a residual
	ApplyReLU      FuncKind = "relu"      // max(x, 0)
	ApplyGELU      FuncKind = "gelu"      // x Φ(x), by the tanh approximation
	ApplySiLU      FuncKind = "silu"      // x σ(x), with the logistic function σ
	ApplySwiGLU    FuncKind = "swiglu"    // x σ(x) times the element of In[0]
	ApplyGeGLU     FuncKind = "geglu"     // gelu(x) times the element of In[0]
	ApplyRMSNorm   FuncKind = "rmsnorm"   // divides rows by the roots of their mean squares, and multiplies by In[0]
	ApplyLayerNorm FuncKind = "layernorm" // the same of what is left of a row without its mean, and adds In[1]
	ApplyRotary    FuncKind = "rotary"    // turns pairs of columns of each head by the angles of In[0]
	ApplyFromFP32  FuncKind = "fromfp32"  // rounds each element of an operand of fp32 once
	ApplyToFP32    FuncKind = "tofp32"    // keeps sums of partial results in fp32, as they are added up
)

// Bias adds a tensor [N] to each row of a result [M,N].
func Bias(tensor string) Func { return Func{Do: AddBias, In: []string{tensor}} }

// Add adds a tensor to a result.
func Add(tensor string) Func { return Func{Do: AddTensor, In: []string{tensor}} }

// ReLU is applied to each element.
func ReLU() Func { return Func{Do: ApplyReLU} }

// GELU is applied to each element.
func GELU() Func { return Func{Do: ApplyGELU} }

// SiLU is applied to each element.
func SiLU() Func { return Func{Do: ApplySiLU} }

// SwiGLU multiplies up by silu of the result, the gate.
func SwiGLU(up string) Func { return Func{Do: ApplySwiGLU, In: []string{up}} }

// GeGLU multiplies up by gelu of the result, the gate.
func GeGLU(up string) Func { return Func{Do: ApplyGeGLU, In: []string{up}} }

// RMSNorm divides each row by the root of the mean of its squares and the epsilon, and multiplies it by the weight, a
// value for each index of the last axis. It is rounded once.
func RMSNorm(weight string) Func { return Func{Do: ApplyRMSNorm, In: []string{weight}} }

// LayerNorm takes its mean from each row, divides the row by the root of the mean of the squares that are left and the
// epsilon, multiplies it by the weight and adds the bias, values for each index of the last axis. It is rounded once.
func LayerNorm(weight, bias string) Func { return Func{Do: ApplyLayerNorm, In: []string{weight, bias}} }

// Rotary turns the heads of a result by the angles of a table [rows, width of a head]: the first half of it are
// cosines, the second half sines. Column j of the first half of a head becomes x cos(j) - y sin(j) and its partner y,
// as far on in the second half, y cos(j) + x sin(j), each rounded once.
func Rotary(table string) Func { return Func{Do: ApplyRotary, In: []string{table}} }

// FromFP32 is the first function of a Copy of a tensor with Type FP32: the result has the type of the plan.
func FromFP32() Func { return Func{Do: ApplyFromFP32} }

// ToFP32 is the last function of a product whose partial results meet: the sum has Type FP32, unrounded.
func ToFP32() Func { return Func{Do: ApplyToFP32} }
