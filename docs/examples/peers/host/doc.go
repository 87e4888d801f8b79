// Package host has the kernel of package peers compiled for the host: a program that imports it runs Sum in the
// simulator.
package host
