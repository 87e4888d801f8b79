package schedule

// ApplyReLU is max(x, 0).
const ApplyReLU FuncKind = "relu"

// ReLU is applied to each element.
func ReLU() Func { return Func{Do: ApplyReLU} }
