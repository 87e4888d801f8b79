// Package plan is what every generated package shares. A Builder takes the
// buffers, semaphores, streams, products and kernels of a host program for one
// shape and makes a Plan of them on all ranks of a group; the program's issue
// function enqueues one run by the calls of a Queue, one call for each node. The
// plan checks that the ranks agree, exchanges memory handles when it is bound to
// new pointers, keeps a graph of its own to replay, and tells the group enough to
// say where it stood when it was aborted.
package plan
