// Package capi implements the C library of a package of schedules (ovgen gen -c DIR): the
// calls of its header over handles instead of Go values, with errors as texts and no panic
// on the way out. The generated main only turns C types into Go types.
package capi
