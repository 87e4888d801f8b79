// Package functions has the functions that the library of products applies to each element of a product, in numbers,
// one row each: for the simulator's products, for the conformance table of drivers, and for the reference. Since all
// of them believe a row, TestKnown holds it against numbers that were computed elsewhere; products on a GPU are held
// against it.
package functions
