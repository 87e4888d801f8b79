// Package simtest brings up the ranks of a group in the simulator, for tests. All
// ranks are goroutines of the test's process; in a testing/synctest bubble a seed
// decides the order of everything.
package simtest
