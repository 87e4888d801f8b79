// Package harness runs a generated package and checks what it computes. It neither
// measures (package run) nor knows the simulator (package programtest).
//
// A program says its operation and the placements of its tensors; which part of each
// tensor a rank holds and what its results must be follow from those. Inputs are made on
// the device from seeds and an element's place in the whole tensor, so that ranks agree on
// what they share. Results are compared on the device with ==, every element on every
// rank, with what the host makes of small problems, and plain products of whole operands
// on the device of large ones. A real-valued run of small problems is held against float64
// with the bound of package reference.
package harness
