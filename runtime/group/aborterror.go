package group

import "ovgen/runtime/group/store"

// AbortError is why a group was aborted, as every one of its ranks gets it.
// errors.Is and errors.As see through it to the cause: context.Canceled,
// context.DeadlineExceeded, ErrPeerGone, *GoneError, or the error given to Abort.
type AbortError struct {
	Rank  int    // this rank
	By    int    // the rank that set the abort word
	Cause error  // why
	Waits []Wait // who waited for whom when the abort came, this rank first
	Order string // how the ranks' sequences of plans differ; empty if they don't
}

// Wait is a rank that a step of a plan kept waiting.
type Wait struct {
	Rank int // who waited; Peer is the first of those it waited for, -1 if unknown
	Peer int
	Plan int
	Step int
	Text string // "plan 3 (allgatherlinear), step 5 on copy: Wait ready[2]"
	Sure bool   // false where the step words fit more than one place in the run
}

// GoneError says that a rank's connection ended: its process died or left.
type GoneError = store.GoneError

// Error says who aborted and why, who waited for whom, and how sequences differ.
func (e *AbortError) Error() string { return e.Cause.Error() }

// Unwrap is the cause.
func (e *AbortError) Unwrap() error { return e.Cause }
