package schedule

// Rails is the way over several hosts. Ranks of one host reach each other's memory; between hosts each
// rank exchanges with the ranks of its number on the other hosts, its rail, by NCCL. The network
// begins first, and works beside the products and the copies within the host. Sums are made on each host in the order
// of its ranks and rounded, and then over the hosts in their order.
type Rails struct {
	// Parts that each shard crosses the network in: a part is multiplied, and copied on the host, while the next
	// one travels. A sum crosses in parts as well: one is multiplied and summed while the one before travels; in one
	// part it hid nothing behind the products of GPUs (docs/hosts.md). An all-gather without a product is not cut.
	Parts int `zero:"1" most:"16"`
}

func (Rails) way()       {}
func (Rails) sums()      {}
func (Rails) travels()   {}
func (Rails) unordered() {}
