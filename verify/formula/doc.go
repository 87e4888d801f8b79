// Package formula evaluates functions of schedules in float64, and gives each value the interval in which a device's
// value of fp32 lies. Operations that IEEE 754 rounds are exact to the last bit where their operands are. An interval
// is wide only after an exponential, a tangent, an error function or a logarithm, and after sums whose order a kernel
// chooses.
package formula
