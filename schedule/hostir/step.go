package hostir

import (
	"fmt"
	"slices"
)

// Step is all work that a host enqueues: it posts and awaits the words of Pre, does its
// work, and then posts and awaits the words of Post, each list in its order. A post, a wait,
// a copy, a product, a get that waits and posts, and a sum between two meetings of all ranks
// differ only in the fields that they leave empty.
type Step struct {
	Origin
	Stream StreamRef
	Pre    []Word
	Do     Work
	Post   []Word
	// By is the emitted kernel that does all of this in one launch: post, wait, copy, reduce, get, put, shot or gather;
	// or NCCL. A product by fewrows is one of few rows, or else by the library. Empty: the copy engine, the library of
	// products, or a stream memory operation.
	By string
	// ByBlocks: each block of the kernel does all of this for its part of each view, and posts
	// and awaits words of its own, from the blocks of its number at the peers. Of a scatter, so does
	// each group of tiles.
	ByBlocks bool
	// Ahead: the kernel of a product may start before the launch before it on its stream has ended, and then reads its
	// weight. It does everything else behind that end.
	Ahead bool
}

// NCCL carries collectives.
const NCCL = "nccl"

// Kernels that do one thing.
const (
	PostKernel    = "post"
	WaitKernel    = "wait"
	CopyKernel    = "copy"
	ReduceKernel  = "reduce"
	WidenKernel   = "widen"   // a sum that is kept in fp32
	FewRowsKernel = "fewrows" // a product of few rows
	NarrowKernel  = "narrow"  // a product of rows by a weight of eight bits
	// ElementsKernel makes each element of those at its place.
	ElementsKernel = "elements"
)

// GroupsKernel evaluates formulas over the elements of a row, or formulas that need the column within a head.
const GroupsKernel = "groups"

// Word is a post to a peer's word or a wait for one's own, which the wait resets.
type Word struct {
	Wait      bool
	Semaphore string
	Index     Expr // the member; absent: the only one, or the first
	Peer      Expr // absent: every peer, r+1 first, of its own host in a program over hosts
}

// View is a buffer, or Count chunks of it from chunk Index on; this rank's or a peer's. With
// Each it is such a view for each value of an index. A Row is the last view that a sum reads: one row,
// which it adds to each row of its result. A function may take several for each row.
type View struct {
	Buffer string
	Index  Expr // absent: the whole buffer
	Count  Expr // absent: one chunk
	Padded bool // a chunk with all its room
	Row    bool
	// Columns: the chunk is of columns, as Buffer.Rows says.
	Columns bool
	Peer    Expr // absent: this rank's
	Each    Range
}

// Range is the values of an index from From up to, not including, To. Without an index it
// is no range.
type Range struct {
	Index    string
	From, To Expr
}

// Words are the words before the work and after it.
func (s Step) Words() []Word { return slices.Concat(s.Pre, s.Post) }

// Fused says that a kernel signals around its work.
func (s Step) Fused() bool { return s.Do != Nothing && len(s.Pre)+len(s.Post) > 0 }

// Remote says that the step copies from or to a peer's memory.
func (s Step) Remote() bool {
	x, copies := s.Do.(Copy)
	return copies && (!x.From.Peer.IsZero() || !x.To.Peer.IsZero())
}

// Signal is the one word of a step that does nothing else.
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

// checkViews refuses rows and columns that the work can't read or write.
func (s Step) checkViews() error {
	_, copies := s.Do.(Copy)
	_, rows := s.Do.(rowed)
	reads, writes := s.Views()
	for _, v := range slices.Concat(reads, writes) {
		switch {
		case v.Columns && !copies:
			return columnsError(v)
		case v.Row && !rows:
			return rowError(v)
		}
	}
	return nil
}

// Check refuses nodes that can't be enqueued, in a program that lower has not made.
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
