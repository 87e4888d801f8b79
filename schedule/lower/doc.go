// Package lower turns a schedule into its host program, in steps of one file each that lower.go lists. The first
// recognises a known computation in the operations and gives tensors their roles (form.go), the second finds in a table
// (rules.go) which communication the placements need; a chain of operations has several (chain.go). The third
// (choose.go) takes the way that the schedule says for each, in a file way_*.go, and writes the naive program, with its
// streams; one writer (chain_write.go) serves all chains, and single products by the ways that stage.go
// says, which are chains of one stage. The program has an edge for each communication, and says of
// each step which edge it is of. Options that do not go together are an error that names the field.
//
// Passes (passes.go) then rewrite the program, and know nothing beside it: they give tensors one memory, share handles
// once, choose kernels, fuse steps into launches and simplify indices. Each runs on every program, and leaves most as
// they are.
package lower
