// Package memory computes the device memory that a plan of a host program needs, before the program's package exists.
// The result equals Shape.Memory of that package.
package memory
