// Package record takes down what an emitted package really enqueues. Its Driver stands
// behind the driver interface, runs nothing, and turns the calls that enqueue into the
// operations of verify/ops, by resolving addresses to the buffers and words of a plan.
// Test holds what it records, eager, captured and replayed, against what verify/ops
// unrolls of the package's schedule, and proves it: it is the test TestRecorded of every
// generated package.
package record
