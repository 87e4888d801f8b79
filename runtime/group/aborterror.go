package group

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ovgen/runtime/group/store"
)

// AbortError says why a group was aborted; every rank of the group gets one. errors.Is and errors.As see through it to
// the cause: context.Canceled, context.DeadlineExceeded, ErrPeerGone or, on the rank that aborted, the error that was
// given to Abort.
type AbortError struct {
	Rank  int    // this rank
	By    int    // the rank that set the abort word
	Cause error  // why
	Waits []Wait // which rank waited for which at the abort, by rank, as far as the ranks could tell
	Order string // how the ranks' sequences of plans differ; empty where they are equal
	// Hosts are the names of the hosts of a group on several hosts. Ranks are numbered host by host, PerHost on each.
	Hosts   []string
	PerHost int
}

// Wait is a step that kept a rank waiting for a peer.
type Wait struct {
	Rank int // the rank that waited
	Peer int // the rank it waited for; the likeliest one where the step waits for several; Rank itself where Posted
	Plan int
	Step int
	Text string // "plan 3 (allgatherlinear), step 5 on copy: Wait ready[2]"
	// Sure is false where the step words fit a second place too: a rank that runs one plan again and again is either at
	// its first wait or past its last wait.
	Sure bool
	// Posted says that the posts that the step awaits had arrived, so the rank waited for no peer at this step: its
	// stream had not reached the step, or the step's kernel was at work.
	Posted bool
}

// ErrPeerGone is in the chain of an AbortError whose cause is a rank that died or left; on the rank that noticed, a
// *store.GoneError names that rank.
var ErrPeerGone = store.ErrGone

// Error says which rank aborted and why, which rank waited for which, how sequences differ, and the ranks of each host.
func (e *AbortError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d aborted the group: %v", e.By, e.Cause)
	for _, w := range e.Waits {
		sure := ""
		if !w.Sure {
			sure = "probably "
		}
		if w.Posted {
			fmt.Fprintf(&b, "; rank %d %swas at %s", w.Rank, sure, w.Text)
			continue
		}
		fmt.Fprintf(&b, "; rank %d %swaited for rank %d at %s", w.Rank, sure, w.Peer, w.Text)
	}
	if e.Order != "" {
		b.WriteString("; " + e.Order)
	}
	for i, name := range e.Hosts {
		fmt.Fprintf(&b, "; ranks %d to %d are on host %q", i*e.PerHost, (i+1)*e.PerHost-1, name)
	}
	return b.String()
}

// reportedError stands for an AbortError whose text a caller has been given already.
type reportedError struct{ error }

// Error points to the earlier error and to Err of the group.
func (e *reportedError) Error() string {
	return "the group was aborted (an earlier error, and Err of the group, say why)"
}

// Unwrap is the *AbortError.
func (e *reportedError) Unwrap() error { return e.error }

// Unwrap is the cause.
func (e *AbortError) Unwrap() error { return e.Cause }

// Kinds of a reason, as the page carries them.
const (
	kindOther uint32 = iota
	kindCanceled
	kindDeadline
	kindGone
)

// classify reduces a cause to the part that fits the page.
func classify(cause error) (kind, rank uint32) {
	var gone *store.GoneError
	switch {
	case errors.As(cause, &gone):
		return kindGone, uint32(gone.Rank)
	case errors.Is(cause, context.Canceled):
		return kindCanceled, 0
	case errors.Is(cause, context.DeadlineExceeded):
		return kindDeadline, 0
	}
	return kindOther, 0
}

// remote is a cause that another rank wrote into the page.
type remote struct {
	text string
	is   error
}

func (e *remote) Error() string { return e.text }

func (e *remote) Unwrap() error { return e.is }

// restore is the reason in a rank's section.
func (p *page) restore(rank int) error {
	e := &remote{text: p.text(rank, sectionReason, reasonBytes)}
	switch p.word(section(rank, sectionKind)).Load() {
	case kindCanceled:
		e.is = context.Canceled
	case kindDeadline:
		e.is = context.DeadlineExceeded
	case kindGone:
		e.is = &store.GoneError{Rank: int(p.word(section(rank, sectionGone)).Load())}
	}
	return e
}
