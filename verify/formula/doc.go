// Package formula evaluates functions of schedules in float64, each value with the interval in which a device's value
// of fp32 lies. Operations that IEEE 754 rounds are exact to the last bit where their operands are: an interval is wide
// only behind an exponential, a tangent, an error function or a logarithm, and behind sums whose order is a kernel's.
package formula
