package prove

import (
	"cmp"
	"fmt"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// A plan of 16 bits may have tensors of fp32. Chunks are counted in bytes, so this file checks the operations that turn
// elements of one size into equally many elements of another size. A copy of fp32 into memory of 16 bits would hold
// other numbers, although the bytes fit.

// elements is the number of elements in that many bytes.
func (b *Buffer) elements(bytes int64) int64 { return 8 * bytes / cmp.Or(b.Element, 8) }

// resized is the counterexample of an operation that reads elements of one size and writes elements of another size,
// and may not.
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

// resizes reports whether an operation may change the size of elements: formulas, whose names have the types, and a sum
// by the kernel that keeps it in fp32.
func resizes(o *ops.Op) bool { return o.Kind == ops.Apply || widens(o) }

// widens reports whether a sum is kept in fp32.
func widens(o *ops.Op) bool { return o.Kind == ops.Sum && o.Kernel == hostir.WidenKernel }

// alike reports whether two uses are cut into chunks of equally many elements.
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

// in is the number of bytes of a result that have as many elements as a.
func (a *chunks) in(result *chunks) int64 { return a.Bytes * result.element / a.element }

// widened is an operation's sum of a chunk: kept in fp32, or rounded.
func (s *symbols) widened(o *ops.Op, sum expr) expr {
	if !widens(o) {
		return sum
	}
	return s.kept(sum)
}

// kept is a sum in fp32.
func (e *expressions) kept(sum expr) expr { return e.applied("in fp32", []expr{sum}) }
