// Package launch starts copies of a program as ranks, and prints an error that all ranks get on one rank only.
package launch
