// Package templates holds the CUDA C++ that ovgen emits. A Device describes the kernels of one package (kernels.Table);
// its parts are the templates of the package's .cu. Device code that does not depend on the schedule is in headers
// (device/), which the .cu includes. Another file compiles the same .cu for the host, where verify/sim runs it.
// funcs.go lists the functions that templates may call; none depends on time, place or chance, and a function that can
// fail returns an error.
package templates
