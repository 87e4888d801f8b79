package plan

import "ovgen/runtime/driver"

// Program is the static identity of a generated package.
type Program struct {
	Name  string // "allgatherlinear"
	Hash  string // of the host program's canonical text, its proof and its device code (SHA-256)
	Proof string // what was proven, or "unproven"
	// Eager programs are not serial-safe as a graph, or exchange handles in the loop:
	// they can be enqueued, not captured.
	Eager bool
	Ranks []int        // group sizes it was proven for; empty means any
	Code  *driver.Code // device code; nil without kernels
}
