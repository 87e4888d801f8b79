// Package kernels launches the kernels of generated packages. A package describes its kernels in a Table: the words
// that each kernel posts and awaits, and its operands. The layout of the parameters and the grid of a launch follow
// from the Table; verify/tables has the memory that a launch touches. The package's .cu holds the kernels themselves,
// made for the schedule.
package kernels
