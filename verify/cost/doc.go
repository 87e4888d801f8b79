// Package cost predicts how long one run of a host program takes on a machine of a
// small table: it runs the operations of all ranks (verify/ops) through a simulation
// of streams, events, semaphore words, multiprocessors and links.
//
// The model knows:
//
//   - A product is cut into tiles; the best of a few tile shapes and splits of k is
//     taken, as tuning would. As many blocks as there are multiprocessors take equal
//     shares of the tiles, so a last wave that is not full costs a whole one, and a
//     block that finds its multiprocessor taken starts late with a full share. The
//     next product's blocks start where the last one's have ended.
//   - Large products are limited by power: their rate has a cap.
//   - A product that writes a peer's memory waits for the link in each tile, but for one of a kernel of tiles, which
//     makes the next tile meanwhile.
//   - A copy has a latency and a rate, both by size. Copies share the link out of
//     their source and the link into their destination.
//   - A kernel of packets sends to all peers side by side; its words cost nothing, since they are in the data.
//   - An exchange between hosts begins when both its ranks have come to it; its bytes share
//     a NIC of each GPU. The table's rate of that is an estimate.
//   - Each operation has a latency on the device, larger in an eager run than in a
//     replayed one, and a time that the host takes to enqueue it.
//
// It leaves out: the time that products lose to each other's and to copies' use of memory
// and cache, differences between ranks, and noise. Where it is known to be wrong: a copy by
// kernel beside large products costs more than it says, in eager runs up to 1.8 times the
// whole; kernels of tiles take a quarter less than it says, with few rows up to half less.
// It is for ranking schedules and for naming their limits; docs/results compares it with
// measurement.
package cost
