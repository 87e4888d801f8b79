// Package literal reads schedules in Go syntax: the place where a field is written, and the constant part of a
// literal's value. It knows composite literals, the constructors of package schedule, and variables of the package that
// have either as their value.
package literal
