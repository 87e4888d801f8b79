package schedule

// NCCL lets NVIDIA's library communicate: an all-gather before the product, a reduce-scatter or an all-reduce after it,
// also in a chain, or a collective without a product. NCCL adds in an order that it chooses, the same on all ranks.
type NCCL struct {
	// Parts in which each rank's rows travel: each part is a collective, beside the products of other parts. One part
	// is the serial form: nothing overlaps. In a chain a gather has parts, and a sum of the stage that begins it.
	Parts int `zero:"1" most:"64"`
}

func (NCCL) way() Facts { return Facts{Travels: true, Sums: true, Unordered: true, Library: true} }

// UsesNCCL reports whether a move is done by NCCL or goes over hosts, so that the generated package needs that library.
func (s Schedule) UsesNCCL() bool {
	for _, m := range s.Moves {
		if FactsOf(m.Way).Library {
			return true
		}
	}
	return s.OverHosts()
}
