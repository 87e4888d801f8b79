// Package reference makes the inputs and the expected results of verification,
// apart from everything it checks: a stateless hash that the device's fill kernel
// computes too, conversions of bf16 and fp16, a plain matrix product in integers,
// exact, and one in float64 with a bound on how far a right result may be from it.
package reference
