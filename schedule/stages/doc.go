// Package stages finds what a schedule does, before anything says how. Package edges says which tensors travel; this
// package puts the operations into stages, each from one communication to the next, and refuses placements that the
// operations leave otherwise (chain.go, placed.go). Functions that kernels of their own make, and batches that are an
// axis, become operations and rows as others first (formulas.go, batches.go). The communications of the stages have
// names, by which ways say what they do (needs.go). Package lower reads the stages and writes the program: nothing here
// knows a stream, a word or memory, and of a way only what its facts say.
package stages
