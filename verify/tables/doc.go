// Package tables says which memory the kernels of generated packages touch: those of a kernels.Table, of calls, and of
// few rows. A program that wants it known, as the simulator and the recorder do, imports it.
package tables
