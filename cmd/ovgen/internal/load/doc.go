// Package load finds the schedules that a Go package declares and evaluates them. The declarations (names, comments,
// positions) come from the syntax; the values come from running the package itself, so any Go may compute a schedule.
// Load writes nothing in the package's module: the program that prints the values exists only in an overlay of the go
// command. A mistake has the line of the field that has it.
package load
