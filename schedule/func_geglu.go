package schedule

// ApplyGeGLU is gelu(x) times the element of In[0], a tensor of the result's axes.
const ApplyGeGLU FuncKind = "geglu"

// GeGLU multiplies up by gelu of the result, the gate.
func GeGLU(up string) Func { return Func{Do: ApplyGeGLU, In: []string{up}} }
