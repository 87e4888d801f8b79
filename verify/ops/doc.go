// Package ops is the flat list of operations that one rank's host enqueues in one run of a host program, for a given
// mesh size and shape. The prover, the explorer and every drawing read it. Unroll makes it from the program. The
// recorder in verify/record makes the same list from the driver calls of the emitted package, so the two can be
// compared.
package ops
