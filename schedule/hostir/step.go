package hostir

import (
	"fmt"
	"slices"

	"ovgen/schedule"
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
	// Reads and Writes are the operands of work that has no names for them.
	Reads, Writes []View
	// Index, Func and Accumulate belong to a product; of a function, or a call of the caller's,
	// Func only: the indices of the operands and of the result, as in Linear; a function, as
	// schedules name it; whether the product adds to its result. A third operand of a product is
	// a bias, added to each row before the function.
	Index      string
	Func       string
	Accumulate bool
	// Width is how many columns the heads have that a function takes the rows apart into; absent: it knows none. It
	// is a number or an extent, and no memory that the step touches depends on it.
	Width Expr
	// Epsilon is the number that a norm adds to the mean of squares; 0 of other work.
	Epsilon float64
	// Makes are the formulas of a function without a name, each the X of the next one: the first is of the first view,
	// and their further operands are the other views, in the order of schedule.Operands. Columns are how many a row of
	// the result has; Word is for texts.
	Makes   []schedule.Expr
	Columns Expr
	Word    string
	Post    []Word
	// By is the emitted kernel that does all of this in one launch: post, wait, copy,
	// reduce, get, put, shot or gather; or NCCL. Empty: the copy engine, the library of
	// products, or a stream memory operation.
	By string
	// Launch is of a call by a kernel of the caller's.
	Launch Launch
	// ByBlocks: each block of the kernel does all of this for its part of each view, and posts
	// and awaits words of its own, from the blocks of its number at the peers. Of a scatter, so does
	// each group of tiles.
	ByBlocks bool
}

// NCCL carries collectives.
const NCCL = "nccl"

// Kernels that do one thing.
const (
	PostKernel   = "post"
	WaitKernel   = "wait"
	CopyKernel   = "copy"
	ReduceKernel = "reduce"
	WidenKernel  = "widen" // a sum that is kept in fp32
	// ElementsKernel makes each element of those at its place.
	ElementsKernel = "elements"
)

// GroupsKernel makes what formulas say of the elements of a row, or of what knows the columns of a head.
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

// Nodes are the formulas of a function without a name, written out.
func (s Step) Nodes() []schedule.Node { return schedule.Nodes(s.Makes...) }

// Rows are the last views that a sum or a function reads, each one row for every row of the result.
func (s Step) Rows() []View {
	return s.Reads[len(s.Reads)-s.rows():]
}

// rows is how many there are.
func (s Step) rows() int {
	i := slices.IndexFunc(s.Reads, func(v View) bool { return v.Row })
	if i < 0 || s.Do != Sum && s.Do != Apply {
		return 0
	}
	return len(s.Reads) - i
}

// Words are the words before the work and after it.
func (s Step) Words() []Word { return slices.Concat(s.Pre, s.Post) }

// Fused says that a kernel signals around its work.
func (s Step) Fused() bool { return s.Do != Nothing && len(s.Pre)+len(s.Post) > 0 }

// Remote says that the step copies from or to a peer's memory.
func (s Step) Remote() bool {
	return s.Do == Copy && (!s.Reads[0].Peer.IsZero() || !s.Writes[0].Peer.IsZero())
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
	for _, part := range []func() error{s.checkWork, s.checkParts, s.checkViews} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// checkWork refuses work that lacks a view or a field.
func (s Step) checkWork() error {
	one := len(s.Writes) == 1
	if o, ok := s.Do.(operated); ok {
		if len(s.Reads)+len(s.Writes) > 0 {
			return fmt.Errorf("%s has its views by name", s.Kind())
		}
		return o.check(s)
	}
	switch s.Do {
	case Nothing:
		if len(s.Pre)+len(s.Post) != 1 || len(s.Reads)+len(s.Writes) > 0 {
			return fmt.Errorf("a step without work is one post or one wait")
		}
	case Copy:
		if !one || len(s.Reads) != 1 {
			return fmt.Errorf("a copy reads one view and writes one")
		}
	case Gather:
		if !one || len(s.Reads) == 0 || s.By == "" || !s.Fused() {
			return fmt.Errorf("a gather reads views and writes one, and a kernel does it between its signals")
		}
	case Sum:
		if !one || s.By == "" {
			return fmt.Errorf("a sum writes one view, and a kernel does it")
		}
	case Apply:
		if !one || len(s.Reads) == 0 || s.Func == "" || s.By == "" {
			return fmt.Errorf("a function is applied to a view by a kernel, which writes one")
		}
		if s.Makes != nil && len(s.Reads) != 1+len(schedule.Operands(s.Nodes())) {
			return fmt.Errorf("a formula reads a view for X and one for each operand")
		}
	case Call:
		if !one || len(s.Reads) == 0 || s.Func == "" || s.By != "" {
			return fmt.Errorf("a call has a name, reads views and writes one, and nothing else carries it")
		}
	case Product:
		if _, err := ParseProduct(s.Index); err != nil {
			return err
		}
		if !one || len(s.Reads) != 2 && len(s.Reads) != 3 {
			return fmt.Errorf("a product reads two operands and perhaps a bias, and writes one view")
		}
	default:
		return fmt.Errorf("there is no work %q", s.Do)
	}
	return nil
}

// checkParts refuses parts of a step that belong to other work.
func (s Step) checkParts() error {
	if _, together := s.Do.(Collective); s.By == NCCL && !together {
		return fmt.Errorf("NCCL does collectives only")
	}
	if s.Do != Product &&
		(s.Index != "" || s.Func != "" && s.Do != Apply && s.Do != Call || s.Accumulate) {
		return fmt.Errorf("only products have indices and a result that they add to; only they, functions and calls " +
			"name a function")
	}
	if s.Do != Apply && !s.Width.IsZero() {
		return fmt.Errorf("only functions have heads")
	}
	if s.Do != Apply && s.Epsilon != 0 {
		return fmt.Errorf("only functions have an epsilon")
	}
	if (s.Makes == nil) != s.Columns.IsZero() || s.Do != Apply && s.Makes != nil {
		return fmt.Errorf("a function without a name has formulas and knows how long a row is, and nothing else does")
	}
	if s.Fused() && s.By == "" {
		return fmt.Errorf("only a kernel signals around its work")
	}
	if s.Launch.File != "" && s.Do != Call {
		return fmt.Errorf("only a call is done by a kernel of the caller's")
	}
	if s.ByBlocks && !s.Fused() {
		return fmt.Errorf("only blocks of a kernel that signals around its work have words of their own")
	}
	return nil
}

// checkViews refuses views that the work can't read or write so.
func (s Step) checkViews() error {
	_, named := s.Do.(operated) // which checks its own views
	reads, writes := s.Views()
	for i, v := range slices.Concat(reads, writes) {
		if v.Each.Index != "" && s.Do != Sum && s.Do != Gather && !named {
			return fmt.Errorf("%s: only a sum, a gather, tiles and packets have a view for each value of an index",
				v.Buffer)
		}
		if v.Columns && (s.Do != Copy || s.By != "" || v.Index.IsZero() || !v.Count.IsZero()) {
			return fmt.Errorf("%s: only a copy by the copy engine takes a part of the columns", v.Buffer)
		}
		if s.Makes != nil {
			continue // its operands lie as its formulas say
		}
		behind := i >= len(reads)-s.rows() && i < len(reads)
		if v.Row && (i == 0 || v.Each.Index != "" || !behind || s.Do == Sum && s.rows() > 1) || behind && !v.Row {
			return fmt.Errorf("%s: only the last view that a sum reads is a row, or the last ones of a function",
				v.Buffer)
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
