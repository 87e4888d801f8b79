//go:build cgo && linux

package sim

// Live is the number of launches that were started and not destroyed.
var Live = liveLaunches
