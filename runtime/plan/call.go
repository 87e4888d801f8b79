package plan

import (
	"fmt"

	"ovgen/runtime/driver"
)

// Call is the caller's work in a run: a function that enqueues it on a stream. It reads the memory of the schedule's
// operands, in their order, and writes the whole result. It may use the list of operands until it returns. A run that
// is enqueued or captured calls the function once; a replay does not, so its operations may depend on the bound memory
// and on nothing that changes later.
//
// The function must not wait on the host, nor load, allocate or free anything once the first run is under way. It
// leaves the stream ordered: the stream waits for work that the function starts elsewhere. The function may use memory
// that the schedule does not name, as long as nothing else in a run touches that memory. After an abort its operands
// may hold garbage, and its work must nevertheless end.
type Call func(on driver.Stream, to Range, from []Range) error

// Range is memory of this rank. A Call that makes eight bits makes a scale of fp32 for each of its Rows, too. Rows are
// also given where Bind is told how many this rank has; where it has none, nothing is called.
type Range struct {
	At     driver.Ptr
	Bytes  int64
	Scales driver.Ptr
	Rows   int64
}

// CallError says that a function of the caller is missing.
type CallError struct{ Program, Call string }

// Error says where the function belongs.
func (e *CallError) Error() string {
	return fmt.Sprintf("%s calls %s, and the plan has none (set its field %[2]s before Bind)", e.Program, e.Call)
}

// All is this rank's buffer, and how many rows it has by the counts of the last Bind, if it has such.
func (b *Buffer) All() (all Range) {
	if all.At, all.Bytes = b.At(0), b.Total(); b.uneven != nil {
		all.Rows = all.Bytes / b.uneven.unit
	}
	return all
}

// With is this rank's buffer of eight bits, together with the buffer of its scales.
func (b *Buffer) With(scales *Buffer) Range {
	return Range{b.At(0), b.Total(), scales.At(0), scales.Total() / driver.FP32.Size()}
}

// Call makes a function of the caller enqueue its work.
func (q *Queue) Call(s *Stream, name string, f Call, to Range, from ...Range) {
	switch {
	case q.Idle(s, to.Bytes) || !q.node(s, "Call ", name):
	case q.listener != nil:
		q.check(q.listener.Function(s.handle, name, to, from))
	case f == nil:
		q.check(&CallError{Program: q.plan.program.Name, Call: name})
	default:
		q.ranges = append(q.ranges[:0], from...)
		q.check(f(s.handle, to, q.ranges))
	}
}
