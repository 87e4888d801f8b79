// Package schedule is the vocabulary in which an overlapped operation is declared:
// tensors with placed axes, the operation, and the choices (pipeline, transport,
// streams) of how its communication and its matrix product are cut into steps that
// run at the same time. A Schedule is plain Go data; its zero choices are the
// fastest known ones, so most schedules are an operation and a few placements.
// Validate reports every mistake of a schedule at once. What a schedule becomes is
// decided by packages lower and hostir.
package schedule
