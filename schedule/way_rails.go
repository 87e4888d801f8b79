package schedule

// Rails is the way over several hosts. Ranks of one host reach each other's memory. Between hosts, each rank exchanges
// by NCCL with the ranks of its rail, which have the same number on the other hosts. The network begins first, and
// works beside the products and the copies within the host. Sums are made on each host in the order of its ranks and
// rounded, and then over the hosts in their order.
type Rails struct {
	// Parts in which each shard crosses the network: a part is multiplied, and copied on the host, while the next one
	// travels. A sum crosses in parts as well: a part is multiplied and summed while the part before travels; in one
	// part the sum hid nothing behind the products of GPUs (docs/hosts.md). Without a product, a part is copied on the
	// host while the next one travels.
	Parts int `zero:"1" most:"16"`
}

func (Rails) way() Facts { return Facts{Travels: true, Sums: true, Unordered: true} }
