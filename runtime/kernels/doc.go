// Package kernels launches the kernels of generated packages. A package describes its kernels in a Table: the words
// that each kernel posts and awaits, and its operands. The layout of the parameters, the grid of a launch and its
// touches follow from the Table. The package's .cu holds the kernels themselves, made for the schedule.
package kernels
