// Package capi implements the C library of a package of schedules (ovgen gen -c DIR): the calls of its header, with
// handles in place of Go values and texts in place of errors, and without panics. The generated main only turns C types
// into Go types.
package capi
