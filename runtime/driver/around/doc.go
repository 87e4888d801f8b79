// Package around makes a driver that calls one function in place of each call that allocates, shares, makes or enqueues
// something. Traces, faults in tests and listings of a run are made with it.
package around
