// Package harness is the command line of generated/run: it lists the generated
// packages, verifies that they compute the right bits, and measures them. One
// binary holds every program and starts its own ranks.
//
// A program says its operation and the placements of its tensors; which part of each
// tensor a rank holds, what its results must be and how large its share of the work
// is follow from those. Inputs are made on the device from seeds and an element's
// place in the whole tensor, so that ranks agree on what they share. Results are
// compared on the device with ==, every element on every rank, with what the host
// makes of small problems, and plain products of whole operands on the device of
// large ones. A real-valued run of small problems is held against float64 with the
// bound of package reference.
package harness
