// Package templates holds the CUDA C++ that ovgen emits. A Device describes the kernels of one
// package (kernels.Table); its parts are the templates that its .cu consists of. Device code that
// does not depend on the schedule is in headers (device/), which the .cu includes. Another file
// compiles the same .cu for the host, where verify/sim runs it. Functions that templates may call
// are listed in funcs.go; none depends on time, place or chance, and a function that can fail
// returns an error.
package templates
