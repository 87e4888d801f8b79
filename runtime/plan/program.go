package plan

import "ovgen/runtime/driver"

// Program is the static identity of a generated package.
type Program struct {
	Name  string // "allgatherlinear"
	Hash  string // of the host program's canonical text, its proof and its device code (SHA-256)
	Proof string // what was proven: "proven for D = 1..8, stamp ..."; New refuses "unproven"
	// Eager programs are not serial-safe as a graph, or exchange handles in the loop:
	// they can be enqueued, not captured.
	Eager bool
	// Puts says that a run writes into peers' memory, and that peers wait for that by
	// stream memory operations.
	Puts  bool
	Ranks []int        // group sizes it was proven for
	Code  *driver.Code // device code; nil without kernels
}
