// Package kernels launches the kernels of generated packages. A package describes its
// kernels in a Table: which words each of them posts and awaits, and what it works at.
// From that follow the layout of the parameters, the grid of a launch and what it touches;
// the kernels themselves, made for the schedule, are in the package's .cu.
package kernels
