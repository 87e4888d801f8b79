// Package choices remembers the fastest algorithm of each matrix product: for this process, and in a file of the user's
// cache folder for later processes. A table belongs to one kind of device, one version of its driver and one version of
// the library whose algorithms it names; other devices and versions have separate tables.
package choices
