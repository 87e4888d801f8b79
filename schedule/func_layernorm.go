package schedule

// ApplyLayerNorm takes its mean from each row, divides the row by the root of the mean of the squares that
// are left and the epsilon, multiplies it by In[0] and adds In[1], values for each index of the last
// axis. It is rounded once.
const ApplyLayerNorm FuncKind = "layernorm"

// LayerNorm is applied to each row.
func LayerNorm(weight, bias string) Func { return Func{Do: ApplyLayerNorm, In: []string{weight, bias}} }
