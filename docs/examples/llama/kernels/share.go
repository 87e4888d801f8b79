package kernels

// decodeBlocks are the blocks of decode that a multiprocessor has at the same time, and leastShare how many of them a
// row of mean length has at least: with fewer, multiprocessors are idle at the end. A launch has mostBlocks, more only
// to give each row leastShare: blocks that no row needs end at once, but 8192 of them take 20 us on an H200.
const decodeBlocks, leastShare, mostBlocks = 3, 3, 2048

// items is how many pieces of work the heads of so many rows are, and shares by how many blocks each can be shared.
func (p *Params) items(rows int) int { return rows * p.Keys * ((p.Group + 7) / 8) }
func (p *Params) shares(rows int) int {
	return min(max(leastShare, mostBlocks/max(1, p.items(rows))), Stretches)
}

// Share returns how many blocks of decode share each row, of rows of so many positions, on a device of so many
// multiprocessors: by the rows' lengths, and together as many as run at the same time, or some times as many. The
// results are the same to the bit whatever the numbers, from 1 to Stretches.
func (p *Params) Share(positions []int, multiprocessors int) []int {
	rows, total, at := len(positions), 0, decodeBlocks*multiprocessors
	for _, n := range positions {
		total += n
	}
	all := (leastShare*p.items(rows) + at - 1) / at * at // blocks
	shares := make([]int, rows)
	for i, n := range positions {
		shares[i] = min(max(1, n*all/(p.items(1)*total)), p.shares(rows))
	}
	return shares
}
