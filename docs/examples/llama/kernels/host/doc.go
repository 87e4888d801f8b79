// Package host has the decoder's own kernels compiled for the host: a program that imports it runs them in the
// simulator.
package host
