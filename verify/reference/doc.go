// Package reference makes the inputs and the expected results of verification, separately from the code under test. It
// has a stateless hash that the device's fill kernel computes too, conversions of bf16 and fp16, the places of the
// parts of a placed tensor, and plain matrix products in float64: exact for integers, and for reals with a bound on the
// error of a right result.
package reference
