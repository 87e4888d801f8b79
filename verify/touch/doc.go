// Package touch says which memory a launch of a kernel uses. The simulator finds races by it, and the recorder compares
// runs with programs. A kernel's driver.Kernel.Row is either a Func, as Describe makes one, or a value of a type for
// which a package has registered a function that lists the touches: verify/tables does so for the kernels of generated
// packages. No run on GPUs needs package touch, so no package in runtime imports it.
package touch
