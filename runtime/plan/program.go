package plan

import "ovgen/runtime/driver"

// Program is the static identity of a generated package, and its requirements.
type Program struct {
	Name  string // "allgatherlinear"
	Hash  string // SHA-256 of the host program's canonical text, its proof and its device code
	Proof string // the result of the proof: "proven for D = 1..8, stamp ..."; New refuses "unproven"
	// Eager programs are not serial-safe as a graph, or exchange handles in the loop: they are not captured.
	Eager bool
	// Puts says that a run writes into peers' memory, and that peers wait for these writes by stream memory operations.
	Puts bool
	// Ring says that a rank uses memory of the rank before it and of the rank after it, and of no other peer.
	Ring  bool
	Ranks []int // group sizes that the program was proven for
	Hosts bool  // the program is for ranks on several hosts, or on one
	// Extents names the extents of a shape, in the order in which Check and Shape take them; Constants are the numbers
	// among the extents of its tensors.
	Extents   []string
	Constants []int
	Axes      int           // of the tensor with the most axes, not counting the axis of ranks; 0: no more than two
	Divides   []Divide      // requirements on a shape
	Types     []driver.Type // element types that the program takes, the default first
	Code      *driver.Code  // device code; nil without kernels
	MaxRanks  int           // number of ranks that the kernels serve; 0: any
}
