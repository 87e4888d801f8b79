// Package lower turns a schedule into its host program, in steps of one file each that lower.go lists. Package stages
// finds the stages; travel.go lists the communications between them, and needs.go names what of a communication ways
// tell apart. Then (choose.go) lower takes the way that the schedule says for each, in a file way_*.go, and one writer
// (chain_write.go) writes the program, with its streams. The program has an edge for each communication, and says of
// each step which edge it is of. Options that do not go together are an error that names the field.
//
// The passes of package passes then rewrite the program.
package lower
