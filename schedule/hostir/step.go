package hostir

import (
	"fmt"
	"slices"
)

// Step is all work that a host enqueues: it posts and awaits the words of Pre, does its work, and then posts and awaits
// the words of Post, each list in its order. A post, a wait, a copy, a product, a get that waits and posts, and a sum
// between two meetings of all ranks differ only in the fields that they leave empty.
type Step struct {
	Origin
	Stream StreamRef
	Pre    []Word
	Do     Work
	Post   []Word
	// By is the emitted kernel that does the whole step in one launch: post, wait, copy, reduce, get, put, shot or
	// gather; or NCCL. A product by fewrows is made by that kernel if it has few rows, and else by the library. Empty:
	// the copy engine, the library of products, or a stream memory operation.
	By string
	// ByBlocks: each block of the kernel does the whole step for its part of each view, and posts and awaits words of
	// its own, which the blocks with its number at the peers await and post. In a scatter, each group of tiles does so.
	ByBlocks bool
	// Ahead: the kernel of a product may start before the end of the launch before it on its stream, and then reads its
	// weight. It does everything else after that end.
	Ahead bool
}

// NCCL carries collectives.
const NCCL = "nccl"

// Kernels with one task.
const (
	PostKernel    = "post"
	WaitKernel    = "wait"
	CopyKernel    = "copy"
	ReduceKernel  = "reduce"
	WidenKernel   = "widen"   // a sum that is kept in fp32
	FewRowsKernel = "fewrows" // a product of few rows
	NarrowKernel  = "narrow"  // a product of rows by a weight of eight bits
	SquaresKernel = "squares" // the same by a weight with scales of squares
	// ElementsKernel makes each element from the elements at its place.
	ElementsKernel = "elements"
)

// GroupsKernel evaluates formulas over the elements of a row, or formulas that need the column within a head.
const GroupsKernel = "groups"

// Word is a post to a peer's word, or a wait for a word of this rank, which the wait resets.
type Word struct {
	Wait      bool
	Semaphore string
	Index     Expr // the member; absent: the only member, or the first
	Peer      Expr // absent: every peer, r+1 first; in a program over hosts, every peer on the rank's host
}

// View is a buffer, or Count chunks of it from chunk Index on, on this rank or a peer. With Each it stands for such a
// view for each value of an index.
type View struct {
	Buffer string
	Index  Expr // absent: the whole buffer
	Count  Expr // absent: one chunk
	Padded bool // a chunk with all its room
	// Columns: the chunk is a part of the columns, as Buffer.Rows says.
	Columns bool
	Peer    Expr // absent: this rank
	Each    Range
}

// Range is the values of an index from From up to, not including, To. Without an index there is no range.
type Range struct {
	Index    string
	From, To Expr
}

// Words are the words before the work and after it.
func (s Step) Words() []Word { return slices.Concat(s.Pre, s.Post) }

// Fused reports whether a kernel signals around its work.
func (s Step) Fused() bool { return s.Do != Nothing && len(s.Pre)+len(s.Post) > 0 }

// Remote reports whether the step copies from or to a peer's memory.
func (s Step) Remote() bool {
	x, copies := s.Do.(Copy)
	return copies && (!x.From.Peer.IsZero() || !x.To.Peer.IsZero())
}

// Signal is the word of a step that does nothing but post or wait for one word.
func (s Step) Signal() (Word, bool) {
	words := s.Words()
	if s.Do != Nothing || len(words) != 1 {
		return Word{}, false
	}
	return words[0], true
}

// check refuses a step that can't be done.
func (s Step) check() error {
	if s.Do == Nothing && len(s.Pre)+len(s.Post) != 1 {
		return fmt.Errorf("a step without work is one post or one wait")
	}
	if s.Do != Nothing {
		if err := s.Do.check(s); err != nil {
			return err
		}
	}
	_, together := s.Do.(Collective)
	switch {
	case s.By == NCCL && !together:
		return fmt.Errorf("NCCL does collectives only")
	case s.Fused() && s.By == "":
		return fmt.Errorf("only a kernel signals around its work")
	case s.Ahead && (s.By == "" || s.Kind() != ProductKind):
		return fmt.Errorf("only a kernel of products reads ahead")
	case s.ByBlocks && !s.Fused():
		return fmt.Errorf("only blocks of a kernel that signals around its work have words of their own")
	}
	return s.checkViews()
}

// checkViews refuses views of columns that the work can't read or write.
func (s Step) checkViews() error {
	_, copies := s.Do.(Copy)
	reads, writes := s.Views()
	for _, v := range slices.Concat(reads, writes) {
		if v.Columns && !copies {
			return columnsError(v)
		}
	}
	return nil
}

// Check refuses nodes that can't be enqueued, in a program that was not made by lower.
func Check(nodes []Node) error {
	for _, n := range nodes {
		if n == nil {
			return fmt.Errorf("there is a node that is nil")
		}
		if s, ok := n.(Step); ok {
			if err := s.check(); err != nil {
				return err
			}
		}
		for _, body := range Bodies(n) {
			if err := Check(body); err != nil {
				return err
			}
		}
	}
	return nil
}
