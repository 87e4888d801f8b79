package plan

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Multiprocessors are those of the device, and none where nothing is enqueued.
func (q *Queue) Multiprocessors() int {
	if q.dry {
		return 0
	}
	return q.plan.driver.Properties().Multiprocessors
}

// TensorMap sets *to to a description of a tensor by which the kernel of the next Launch copies. It is false where
// nothing is enqueued, and *to stays as it was.
func (q *Queue) TensorMap(to *driver.TensorMap, d driver.TensorMapDesc) bool {
	if q.dry || q.err != nil {
		return false
	}
	q.check(q.plan.driver.TensorMapEncodeTiled(to, d))
	return q.err == nil
}

// CountWord is the word in which a kernel of several blocks on s counts its blocks as they
// start and finish. It is zero before the kernel and after it, and no other stream uses it.
func (q *Queue) CountWord(s *Stream) driver.Ptr { return group.CountWord(s.step) }

// CountApart is the distance in words from a count word of a stream to its next.
const CountApart = group.StepBytes / 4
