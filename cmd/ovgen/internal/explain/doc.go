// Package explain describes in words the steps of one rank in one run of a host program:
// the operations of its list (verify/ops) by stream, with bytes, and for each wait whose
// post it waits for.
package explain
