// Package harness runs a generated package and checks its results. It does not measure, as package run does, and does
// not know the simulator, as package programtest does.
//
// A program has its operations and the placements of its tensors; the part of each tensor on a rank, and the expected
// results, follow from these. Inputs are made on the device from seeds and an element's place in the whole tensor, so
// that ranks agree on shared elements. Results are compared on the device with ==, every element on every rank: with
// the host's results for small problems, and for large ones with plain products of whole operands on the device. A
// real-valued run of small problems is compared with float64, within the bound of package reference.
package harness
