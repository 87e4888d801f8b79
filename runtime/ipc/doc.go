// Package ipc shares device memory between the ranks of a group: a cache of exported and imported allocations, keyed
// (peer, allocation, buffer id), and the message that carries the exports a peer does not have yet. An allocation is
// imported once from a peer, however many buffers lie in it, and counted by references. Importers close first; an
// exporter holds its Export until they have, and a free before that is an error. Mapped memory, such as an expandable
// segment of PyTorch's, is as many of CUDA's allocations as a buffer lies in: they go as open files, or by fabric
// handles, and are mapped in one piece. Ranks of one process reach each other's memory by peer access: there a handle
// is the address itself.
package ipc
