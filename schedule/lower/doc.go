// Package lower turns a schedule into its host program by a short list of passes,
// one file each, listed in Lower. The first finds in a table (rules.go) which
// communication the placements need; the second finds in another (pipeline.go) who
// writes it for the schedule's choices. What it writes is either one plain loop, the
// program that nvFuser runs, which each later pass rewrites for one choice; or a
// program whose nodes have their streams, which those passes leave alone. A point of
// the space that is new is a file with its function and a line of a table; choices that
// nobody reads are errors that name the field.
package lower
