// Package reference makes the inputs and the expected results of verification,
// apart from everything it checks: a stateless hash that the device's fill kernel
// computes too, conversions of bf16 and fp16, where the parts of a placed tensor lie,
// and plain matrix products in float64: exact for integers, and for reals with a
// bound on how far a right result may be.
package reference
