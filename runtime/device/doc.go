// Package device gives users and tests streams, events, buffers, graphs and kernels over the driver: thin handles with
// an explicit, idempotent Close. Nothing is freed unless the caller asks. With OVGEN_DEBUG=leaks each object remembers
// where it was made, Leaks lists the objects that are still open, and an object that becomes unreachable without Close
// is reported on standard error.
package device
