// Package hostir is the host program: the steps that every rank's host issues for one
// run of a schedule, the same text for all ranks. A program is made of For, If, Let, Synchronize,
// Share and one node for all work, Step. A node lists its parts in one method, With, and
// every walk is made of it. Index expressions are one small typed tree, simplified,
// evaluated and printed as text here; cmd/ovgen prints them as Go and as C. Package lower
// makes programs; verify/ops unrolls them and cmd/ovgen emits them.
package hostir
