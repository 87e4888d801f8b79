package schedule

// ApplyRMSNorm divides each row by the root of the mean of its squares and the epsilon, and multiplies it by
// In[0], a value for each index of the last axis. It is rounded once.
const ApplyRMSNorm FuncKind = "rmsnorm"

// RMSNorm is applied to each row.
func RMSNorm(weight string) Func { return Func{Do: ApplyRMSNorm, In: []string{weight}} }
