package prove

import (
	"cmp"
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// A plan of 16 bits may have tensors of fp32. Chunks are bytes, so what takes elements of one size to as many of
// another is told apart here: a copy of fp32 into memory of 16 bits would hold other numbers, whatever its bytes.

// elements is how many elements bytes are.
func (b *Buffer) elements(bytes int64) int64 { return 8 * bytes / cmp.Or(b.Element, 8) }

// resized is the counterexample of an operation that reads elements of one size, makes some of another, and may not.
func (s *symbols) resized(n int32, o *ops.Op, reads []*chunks, to *chunks) *Counterexample {
	if resizes(o) || o.Kind == ops.Call {
		return nil
	}
	for _, a := range reads {
		if a.element != elementsOf(o, reads, a, to.element) {
			return s.wrong(n, fmt.Sprintf("%s has elements of %d bits, and %s of %d: only functions and sums in fp32 "+
				"take one to the other",
				a.At, a.element, to.At, to.element))
		}
	}
	return nil
}

// resizes reports whether an operation may do so: formulas, whose names have the types, or a sum by the kernel that
// keeps it in fp32.
func resizes(o *ops.Op) bool { return o.Kind == ops.Apply || widens(o) }

// widens reports whether a sum is kept in fp32.
func widens(o *ops.Op) bool { return o.Kind == ops.Sum && o.Kernel == hostir.WidenKernel }

// alike reports whether two are cut into chunks of as many elements.
func alike(a, b *chunks) bool {
	if len(a.sizes) != len(b.sizes) {
		return false
	}
	for i, size := range a.sizes {
		if size*b.element != b.sizes[i]*a.element {
			return false
		}
	}
	return true
}

// isRow reports whether an operand behind the first is a row, for each row of the result: it has fewer elements.
func isRow(operand, result *chunks) bool { return operand.in(result) < result.Bytes }

// in is how many bytes of a result have as many elements.
func (a *chunks) in(result *chunks) int64 { return a.Bytes * result.element / a.element }

// widened is the sum that an operation makes of a chunk: kept in fp32, or rounded.
func (s *symbols) widened(o *ops.Op, sum expr) expr {
	if !widens(o) {
		return sum
	}
	return s.kept(sum)
}

// kept is a sum in fp32.
func (e *expressions) kept(sum expr) expr { return e.applied("in fp32", []expr{sum}) }
