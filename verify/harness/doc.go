// Package harness is the command line of generated/run: it lists the generated
// packages, verifies that they compute the right bits, and measures them. One
// binary holds every program and starts its own ranks. Inputs are made on the
// device from a seed, results are compared on the device with ==, and what can't
// be checked that way (a real-valued run, small shapes) is checked on the host
// against package reference.
package harness
