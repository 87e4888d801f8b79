// Package tuning chooses the schedule of an operation that was measured as the fastest on a machine. Users of the
// generated package tuned meet Table, Read, Parse, Tuned, Choice, Measured and the errors; the package itself calls
// Tune, Own and Other.
//
// Package tuned has all schedules of an operation, not only those that h200.json and h100.json name: a table of the
// user's own machine may name any of them, rings serve where NVLink joins neighbours alone, and NCCL where a group
// falls back. Only schedules that teach are left out. Of the catalogue it imports 60, which with what they import are
// 29,500 lines of Go (cmd/ovgen/internal/imports counts them). A program links those of the operations that it makes
// plans of, and the device code of all. One that knows its schedule imports that package alone, of 15,500 lines or
// little more.
package tuning
