// Package tuning chooses the schedule of an operation that was measured as the fastest on a machine. Users of the
// generated package tuned meet Table, Read, Parse, Tuned, Choice, Measured and the errors; the package itself calls
// Tune, Own and Other.
//
// Package tuned has all schedules of an operation, not only the schedules that h200.json and h100.json name: a user's
// table may name any of them, rings serve where NVLink joins only neighbours, and NCCL where a group falls back. It
// leaves out only schedules that teach. Of the catalogue it imports 60 packages, which with their imports are 29,500
// lines of Go (cmd/ovgen/internal/imports counts them). A program links the schedules of the operations that it makes
// plans of, and the device code of all schedules. A program that knows its schedule imports that package alone, of
// 15,500 lines or little more.
package tuning
