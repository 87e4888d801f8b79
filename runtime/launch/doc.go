// Package launch starts the ranks of a program that starts its own, finds a rank's
// place in what its launcher has set, be it this package, torchrun, mpirun or srun,
// and prints an error that all ranks get on one of them.
package launch
