package plan

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// CountWord is the word in which a kernel of several blocks on s counts its blocks as they
// start and finish. It is zero before the kernel and after it, and no other stream uses it.
func (q *Queue) CountWord(s *Stream) driver.Ptr { return group.CountWord(s.step) }
