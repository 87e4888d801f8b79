// Package passes rewrites programs that package lower has written. A pass gets the program, with its schedule and its
// edges, and nothing else: passes give tensors one memory, let scales travel with their rows, share handles once,
// choose kernels, fuse steps into launches and simplify indices. Each runs on every program, and leaves most as they
// are.
package passes
