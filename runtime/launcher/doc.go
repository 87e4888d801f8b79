// Package launcher finds a process's place among the ranks of a group in the environment variables that its launcher
// has set: launch.Command, torchrun, mpirun or srun.
package launcher
