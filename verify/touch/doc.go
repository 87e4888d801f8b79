// Package touch says which memory a launch of a kernel uses. The simulator finds races by it, and the recorder compares
// runs with programs. A kernel's driver.Kernel.Row is either a Func, as Describe makes one, or a value for whose type a
// package has registered what lists its touches: verify/tables, for the kernels of generated packages. No run on GPUs
// needs it, so nothing in runtime imports it.
package touch
