package schedule

// NCCL lets NVIDIA's library communicate: an all-gather before the product, a reduce-scatter or an
// all-reduce after it, also in a chain, or a collective without a product. It adds in an order of its
// own, the same on all ranks.
type NCCL struct {
	// Parts that each rank's rows travel in, a collective each, beside the products of others.
	// One part is the serial form: nothing overlaps. A chain has no other.
	Parts int `zero:"1" most:"64"`
}

func (NCCL) way()       {}
func (NCCL) sums()      {}
func (NCCL) travels()   {}
func (NCCL) unordered() {}

// UsesNCCL says that a move is NCCL's, or goes over hosts, so the generated package needs that library.
func (s Schedule) UsesNCCL() bool {
	for _, m := range s.Moves {
		if _, ok := m.Way.(NCCL); ok {
			return true
		}
	}
	return s.OverHosts()
}
