// Package edges finds the tensors that have to travel between the ranks. Each tensor has a state: whole on every rank,
// spread along an axis, partial, or on rank 0. The letters of an operation carry the states of its operands to its
// result (letters.go). Where a tensor has to change its state there is an edge, of one of six kinds (edge.go). Rows,
// columns, equal, balanced and counted parts, batches and hosts are data of an edge.
package edges
