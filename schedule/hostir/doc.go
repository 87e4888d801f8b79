// Package hostir is the host program: what every rank's host issues for one run of
// a schedule, the same text for all ranks. Its nodes are those of nvFuser's host IR
// under its names, each with the stream it is issued on; index expressions are one
// small typed tree. The package prints programs, walks them, and rewrites an
// exchange or a collective into the posts, waits and copies of its protocol. Package
// lower makes programs; verify/ops unrolls them and cmd/ovgen emits them.
package hostir
