package schedule

// AddTensor adds In[0], a tensor of the result's axes and placement: a residual.
const AddTensor FuncKind = "add"

// Add adds a tensor to a result.
func Add(tensor string) Func { return Func{Do: AddTensor, In: []string{tensor}} }
