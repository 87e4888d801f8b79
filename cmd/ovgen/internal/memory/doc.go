// Package memory says what device memory a plan of a host program needs, before there is a
// package to ask: as the Shape.Memory of that package will say.
package memory
