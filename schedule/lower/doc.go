// Package lower turns a schedule into its host program by a short list of passes, one file
// each, listed in lower.go; every pass runs on every program, and leaves most
// programs as they are. The first recognises a known computation in the operations and gives
// tensors their roles (form.go), the second finds in a table (rules.go) which communication the
// placements need; a chain of operations has several (chain.go). The third (choose.go) takes the
// way that the schedule says for each, in a file way_*.go, and writes the naive program, with its
// streams; one writer (chain_write.go) serves all chains, and says of each step whose move it belongs to.
// Later passes give tensors one memory, move the exchange of handles out, choose kernels, fuse
// steps into launches, simplify indices and give buffers the schedule's own names. Options that do
// not go together are an error that names the field.
package lower
