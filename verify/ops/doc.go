// Package ops is the flat list of operations that one rank's host enqueues in one
// run of a host program, for a given mesh size and shape: what the prover, the
// explorer and every drawing read. Unroll makes it from the program; the recorder in
// verify/record makes the same list from the driver calls of the emitted package, so
// what runs can be held against what was meant.
package ops
