package plan

import "ovgen/runtime/driver"

// Program is the static identity of a generated package, and its requirements.
type Program struct {
	Name  string // "allgatherlinear"
	Hash  string // of the host program's canonical text, its proof and its device code (SHA-256)
	Proof string // the result of the proof: "proven for D = 1..8, stamp ..."; New refuses "unproven"
	// Eager programs are not serial-safe as a graph, or exchange handles in the loop:
	// they can be enqueued, not captured.
	Eager bool
	// Puts says that a run writes into peers' memory, and that peers wait for that by stream memory operations.
	Puts bool
	// Ring says that a rank uses memory of the ranks before and after it, and of no other peer.
	Ring  bool
	Ranks []int // group sizes it was proven for
	Hosts bool  // it is for ranks on several hosts, or on one
	// Extents names the extents of a shape, in the order in which Check and Shape take them;
	// Constants are the extents of its tensors that are numbers.
	Extents   []string
	Constants []int
	Axes      int           // of the tensor with the most, that of ranks aside; 0: no more than two
	Divides   []Divide      // requirements on a shape
	Types     []driver.Type // element types it takes, the default first
	Code      *driver.Code  // device code; nil without kernels
	MaxRanks  int           // ranks that the kernels serve; 0: any
}
