package plan

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Every peer, or None: what a kernel that waits, works and posts in one launch takes
// instead of a peer. With None there is no semaphore either.
const (
	Every = -1
	None  = -2
)

// CountWord is where the kernel that runs on s counts its finished blocks: zero before
// it and after it, and shared with no other stream.
func (q *Queue) CountWord(s *Stream) driver.Ptr { return group.CountWord(s.step) }
