// Package hostir is the host program: the steps that every rank's host issues for one run of a schedule, the same text
// for all ranks. A program is made of For, If, Let, Synchronize, Share and one node for all work, Step. A node lists
// its parts in one method, With, from which every walk is made. Index expressions are one small typed tree, which this
// package simplifies, evaluates and prints as text; cmd/ovgen prints them as Go and as C. Package lower makes programs;
// verify/ops unrolls them and cmd/ovgen emits them.
package hostir
