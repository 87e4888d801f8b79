package explore

import (
	"fmt"
	"strings"

	"ovgen/verify/ops"
)

// kind of a step.
type kind uint8

const (
	mark   kind = iota // the start or end of a run
	wait               // for a word
	write              // of a word
	access             // of memory
	check              // the caller reads a result
)

// step is one atomic event: an item of a Signal, a copy, a product, a write or read of the
// caller.
type step struct {
	kind       kind
	rank, run  int
	op         *ops.Op // nil for the caller
	name       string
	before     []int32 // direct predecessors
	word       int32   // of wait and write
	value      uint32
	reads      []int32 // atoms of memory, in the order of the operation's uses
	writes     []int32
	operands   [][]int32 // the atoms of each read
	results    [][]int32 // the atoms of each write
	lives      []int32   // runs that must be under way: the rank's run, and the runs of peers whose memory it accesses
	wrote      *Buffer   // of the caller's writes
	result     int       // of check
	conflicts  []int32
	group      int32 // steps of one operation share it
	block      int64 // of a launch whose blocks signal each for itself
	serialWait bool  // the first signalling step of a launch that waits, or of a collective
	ends       bool  // the second step of a collective
	message    int32 // the atom that has a rank's data on their way, which the first step of a collective writes
}

// String is "run 1, rank 0, copy, step 5: copy: read A@1+0 4B, write ...".
func (s *step) String() string {
	at := fmt.Sprintf("run %d, rank %d", s.run+1, s.rank)
	if s.op == nil {
		return at + ", caller: " + s.name
	}
	at += ", " + s.op.Stream
	if s.op.Step > 0 {
		at += fmt.Sprintf(", step %d", s.op.Step)
	}
	return at + ": " + s.name
}

// named is the operation without its stream.
func named(o *ops.Op) string {
	_, text, _ := strings.Cut(o.String(), ": ")
	return text
}

// brief names a step by its operation and its memory, without sizes, values of step words and workspaces. The name is
// equal in programs that differ only in the order of steps.
func (s *step) brief() string {
	if s.op == nil {
		return "caller: " + s.name
	}
	text := s.op.Kind.String()
	switch {
	case s.kind == wait || s.kind == write:
		return s.name
	case s.op.Kind == ops.Signal && strings.HasPrefix(s.name, "count "):
		return s.name
	case s.op.Kind == ops.Collective && s.ends:
		text = "end " + s.op.Form
	case s.op.Kind == ops.Collective:
		text = "begin " + s.op.Form
	case s.op.Kind == ops.Signal:
		return "note the step of " + s.op.Stream
	}
	for _, u := range s.op.Uses {
		if u.Write && u.Bytes > 0 {
			text += fmt.Sprintf(" to %s", u.At)
		}
	}
	return text
}

// signals reports whether a step waits for or writes a word.
func (s *step) signals() bool { return s.kind == wait || s.kind == write }
