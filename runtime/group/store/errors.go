package store

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrForeign: the other end of a connection belongs to another user.
var ErrForeign = errors.New("the process at the other end belongs to another user")

// ErrClosed: this end was closed.
var ErrClosed = errors.New("store is closed")

// ErrGone matches every GoneError, by errors.Is.
var ErrGone = errors.New("a rank is gone")

// ErrFrame: the process at the other end does not speak the protocol.
var ErrFrame = errors.New("malformed frame")

// GoneError reports that a rank's connection ended.
type GoneError struct{ Rank int }

// Error is "rank 2 is gone".
func (e *GoneError) Error() string { return fmt.Sprintf("rank %d is gone", e.Rank) }

// Is makes every GoneError an ErrGone.
func (e *GoneError) Is(target error) bool { return target == ErrGone }

// RefusedError is rank 0's answer to a process that may not join.
type RefusedError struct{ Reason string }

// Error gives rank 0's reason.
func (e *RefusedError) Error() string { return "rank 0 refused: " + e.Reason }

// RendezvousError names the ranks that did not join.
type RendezvousError struct {
	Job     string
	Size    int
	Missing []int
	After   time.Duration
	Notes   []string // connections that were refused meanwhile, and the number of refused or silent ones
}

// Error names the missing ranks and the connections that were refused meanwhile.
func (e *RendezvousError) Error() string {
	s := fmt.Sprintf("job %q: %s of %d did not come within %v", e.Job, ranks(e.Missing), e.Size, e.After)
	if len(e.Notes) > 0 {
		s += " (" + strings.Join(e.Notes, "; ") + ")"
	}
	return s
}

// MismatchError says that the ranks met in one Gather with different actions. Every rank gets it, and may go on.
type MismatchError struct{ Keys []string } // by rank

// Error lists the action of each rank.
func (e *MismatchError) Error() string {
	var b strings.Builder
	b.WriteString("the ranks do different things: ")
	for i, key := range distinct(e.Keys) {
		if i > 0 {
			b.WriteString("; ")
		}
		var who []int
		for r, k := range e.Keys {
			if k == key {
				who = append(who, r)
			}
		}
		fmt.Fprintf(&b, "%s: %s", ranks(who), key)
	}
	return b.String()
}

// MissingError reports that some ranks did not come to a Gather.
type MissingError struct {
	Key     string // the action of the first rank that came
	Came    []int
	Missing []int
	Why     string // "did not within 30s", "gave up: context canceled"
}

// Error is "KEY: rank 1 came alone; ranks 0, 2 did not within 30s".
func (e *MissingError) Error() string {
	came := ranks(e.Came) + " came"
	if len(e.Came) == 1 {
		came += " alone"
	}
	return fmt.Sprintf("%s: %s; %s %s", e.Key, came, ranks(e.Missing), e.Why)
}

// ranks is "rank 1" or "ranks 0, 2".
func ranks(list []int) string {
	s := "rank "
	if len(list) > 1 {
		s = "ranks "
	}
	for i, r := range list {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(r)
	}
	return s
}

func distinct(keys []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}
