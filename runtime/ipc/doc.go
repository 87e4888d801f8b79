// Package ipc shares device memory between the ranks of a group. It has a cache of exported and imported allocations,
// keyed (peer, allocation, buffer id), and the message that carries the exports that a peer does not have yet. A rank
// imports an allocation of a peer once, however many buffers lie in it, and counts references. Importers close first;
// an exporter holds its Export until they have closed, and an earlier free is an error. Mapped memory, such as an
// expandable segment of PyTorch's, may consist of several of CUDA's allocations. The allocations of a buffer are shared
// as open files or by fabric handles, and are mapped in one piece. Ranks of one process reach each other's memory by
// peer access: there a handle is the address itself.
package ipc
