// Package load finds the schedules that a Go package declares and evaluates them.
// The declarations (names, comments, positions) come from the syntax; the values
// come from running the package itself, so a schedule may be computed by any Go.
// Nothing is written in the package's module: the program that prints the values
// exists in an overlay of the go command only. A mistake is tied to the line of the
// field that holds it.
package load
