// Package schedule is the vocabulary in which an overlapped operation is declared: tensors with placed axes, the
// operations on them (contractions, functions behind them, and calls), and moves: the ways of the communications that
// the placements imply. Each way is a struct with its options, in a separate file; a new way is a file and its name in
// move.go. A Schedule is plain Go data. Its zero choices are the fastest known ones, so most schedules are an operation
// and a few placements. Validate reports every mistake of a schedule at once. Packages lower and hostir decide which
// program a schedule becomes.
package schedule
