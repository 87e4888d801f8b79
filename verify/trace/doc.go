// Package trace measures when each operation of a real run was at work: a driver
// that sets a timing event on either side of every operation which it passes on.
// The events cost a microsecond or two each, so a traced run is a little slower than
// the run it shows.
package trace
