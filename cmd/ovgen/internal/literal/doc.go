// Package literal reads schedules in Go syntax: where a field of one is written, and
// what a literal says as far as it is constant. It knows composite literals, the
// constructors of package schedule and variables of the package that hold either.
package literal
