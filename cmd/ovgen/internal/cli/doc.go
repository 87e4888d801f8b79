// Package cli is the command line of ovgen: one verb a file. Exit status is 0 for
// success, 1 for a mistake in a schedule or for drift, 2 for trouble with usage, files
// or tools.
package cli
