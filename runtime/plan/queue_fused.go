package plan

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// CountWord is where a kernel of several blocks on s counts those that start and finish:
// zero before the kernel and after it, and used by no other stream.
func (q *Queue) CountWord(s *Stream) driver.Ptr { return group.CountWord(s.step) }
