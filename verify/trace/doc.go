// Package trace measures when each operation of a real run was at work. Its driver sets a timing event before and after
// every operation that it passes on. The events cost a microsecond or two each, so a traced run is a little slower than
// the run it shows.
package trace
