// Package tuning chooses the schedule of an operation that was measured as the fastest on a machine. Users of the
// generated package tuned meet Table, Read, Parse, Tuned, Choice, Measured and the errors; the package itself calls
// Tune, Own and Other.
package tuning
