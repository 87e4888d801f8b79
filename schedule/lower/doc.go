// Package lower turns a schedule into its host program by a short list of passes, one file
// each, listed in lower.go; every pass runs on every program, and does nothing to a program
// that it has nothing to do for. The first finds in a table (rules.go) which communication the
// placements need. The second finds in another (pipeline.go) who writes it for the schedule's
// choices: the naive program, with its streams. Those behind it give tensors one memory, move
// the exchange of handles out, choose kernels, fuse steps into launches and simplify indices. A
// point of the space that is new is a file with its function and a line of a table; choices that
// nobody reads are errors that name the field.
package lower
