// Package tables says which memory the kernels of generated packages touch: the kernels of a kernels.Table, of calls,
// and of few rows. A program that needs this, such as the simulator or the recorder, imports the package.
package tables
