// Package around has one function called in place of each call of a driver that allocates, shares, makes or enqueues
// something. Traces, faults of tests and listings of a run are made so.
package around
