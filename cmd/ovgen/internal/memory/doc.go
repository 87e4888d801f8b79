// Package memory computes the device memory that a plan of a host program needs, before its
// package exists: the same as Shape.Memory of that package.
package memory
