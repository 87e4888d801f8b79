// Package drivertest holds the calls that every driver must answer as CUDA does. A driver's
// own test calls Conform and NoAllocs with a function that opens it: the simulator and the
// GPU are checked by the same table.
package drivertest
