// Package record records the operations that an emitted package enqueues. Its Driver
// implements the driver interface, runs nothing, and turns the calls that enqueue into the
// operations of verify/ops, by resolving addresses to the buffers and words of a plan. Test
// compares the recorded operations, eager, captured and replayed, with the operations that
// verify/ops unrolls from the package's schedule, and proves them: it is the test
// TestRecorded of every generated package.
package record
