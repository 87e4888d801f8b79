// Package record takes down what an emitted package really enqueues: a Driver that
// stands behind the driver interface and turns its calls into the operations of
// verify/ops, by resolving addresses to the buffers and words of a plan. What it
// records, eager or under capture, must be what verify/ops unrolls.
package record
