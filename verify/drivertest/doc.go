// Package drivertest holds the calls that every driver must answer as CUDA does. The test of a driver calls Conform and
// NoAllocs with a function that opens the driver: the simulator and the GPU are checked by the same table. Child runs a
// test in a process that finds a fake library.
package drivertest
