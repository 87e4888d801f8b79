// Package templates holds the CUDA C++ that ovgen emits, one template a kernel, the
// header with their parameter structs, and the file that compiles the same kernels for
// the host, where verify/sim runs them. Templates decide nothing: what differs between
// packages comes in as data. Functions that templates may call are listed in funcs.go;
// none depends on time, place or chance, and those that can fail return errors.
package templates
