//go:build !cgo

package capi

// refresh has nothing to do: without cgo there is no library.
func refresh() {}
