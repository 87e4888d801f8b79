// Package choices remembers which algorithm was the fastest for each matrix product: for the process, and
// for later ones in a file of the user's cache folder. A table belongs to one kind of device, one version
// of its driver and one of the library whose algorithms it names; others have tables of their own.
package choices
