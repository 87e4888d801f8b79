// Package explain says in words what one rank does in one run of a host program: the
// operations of its list (verify/ops) by stream, with bytes, and for each wait whose
// post it waits for.
package explain
