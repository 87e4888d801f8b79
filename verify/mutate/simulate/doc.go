// Package simulate carries out lists of operations on the simulator, by driver calls
// of its own and not by a generated package: so that mutants, which have no package,
// can be seen to fail. Everything is enqueued without a host wait; inputs are fresh in
// each run, results are poisoned between runs and compared bit by bit.
package simulate
