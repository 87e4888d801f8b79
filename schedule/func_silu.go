package schedule

// Functions with the logistic function σ.
const (
	ApplySiLU   FuncKind = "silu"   // x σ(x)
	ApplySwiGLU FuncKind = "swiglu" // x σ(x) times the element of In[0], a tensor of the result's axes
)

// SiLU is applied to each element.
func SiLU() Func { return Func{Do: ApplySiLU} }

// SwiGLU multiplies up by silu of the result, the gate.
func SwiGLU(up string) Func { return Func{Do: ApplySwiGLU, In: []string{up}} }
