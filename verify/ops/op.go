package ops

import (
	"fmt"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// LaunchOf is a launch of a kernel of the caller's: "4 blocks of 256 threads, 64, 128", the arguments last.
func LaunchOf(blocks, threads int64, args ...int64) string {
	text := fmt.Sprintf("%d blocks of %d threads", blocks, threads)
	for _, a := range args {
		text += fmt.Sprintf(", %d", a)
	}
	return text
}

// Op is one operation that a host enqueues on a stream.
type Op struct {
	Kind   Kind
	Stream string // as the program names it: main, copy, work[1]
	// Event of Record and WaitEvent, numbered by first record from 0.
	Event int
	// Words that a Signal waits for and writes, in order.
	Words []Word
	// Uses of memory by the work, reads first.
	Uses []Use
	// Kernel that carries out a Copy, Sum or Signal, empty for the copy engine and for
	// stream memory operations. One launch may be several operations in a row.
	Kernel string
	// Count is the word in which the blocks of a kernel that signals around its work count
	// themselves. The kernel uses it from its start until its work is done, so all
	// operations of the kernel up to then have it. It is unset where its Buffer is empty.
	Count Loc
	// ByBlocks: each block of the kernel does all of its launch's operations for its own part
	// of each use, and has words of its own beside the words named here, which the blocks of its
	// number in other launches post and await. Two uses of the same bytes have the same parts. Where
	// all blocks run at once, it is so for each group of tiles of a part.
	ByBlocks bool
	// Part of a kernel's launch that the operation belongs to, from 1: parts begin when the launch's operations before
	// the first part, which have none, have ended, and run side by side; operations after the last part follow all.
	Part int
	// AtOnce: all blocks of the launch run at the same time, so a part of it that waits keeps the device from no other
	// part.
	AtOnce bool
	// Form of a Product: matmul, linear or gradient, and the function of each element that
	// follows: linear gelu. Of a Collective: which one, as package hostir names it. Of an Apply: the
	// schedule.Key of its formulas. Of a Call: the name of the caller's.
	Form string
	// Lies says of an Apply how its further operands lie. Columns are those of a row, 0 where nothing depends on them,
	// and Heads the widths of heads that the formula knows, in its order.
	Lies    []schedule.Lies
	Columns int64
	Heads   []int64
	// LeavesScales: an Apply also writes what its formula divides each row by, behind its result, or a Call the scales
	// of the rows that it makes.
	LeavesScales bool
	// Launch of a Call by a kernel, as LaunchOf has it.
	Launch string
	// ScaledTerms are how many terms of a Sum have eight bits, each with scales, one for each of Columns of it.
	ScaledTerms int
	// Scales of a Product's operands: 2, or 1 of the second operand alone.
	Scales int
	// InBlocks: they are of blocks of rows and of squares of the second operand.
	InBlocks bool
	// InOrder: the library gives a row of a Product the same bits whatever the number of rows.
	InOrder bool
	// Accumulate: a Product adds to its result, which it reads. No other operand may lie in the result.
	Accumulate bool
	// To and From are the ranks that an exchange sends to and gets from.
	To, From int
	// Early: the launch may start when the launch before it on its stream lets it. What it reads ahead it may read
	// then; all else it does behind that launch's end, which it awaits in any case.
	Early bool
	// Step is the number of the node in issue order, from 1; zero for After and Done.
	Step int
	// Node of the host program; absent in a recorded operation.
	Node hostir.Node
}

// Side is one of the two matrices that a Product multiplies.
type Side int

// Sides of a Product.
const (
	A Side = iota
	B
)

// ScalesOf is how many scales a side has, if not one: of rows, each of so many elements.
func (o Op) ScalesOf(of Side, rows, depth int64) int64 {
	switch {
	case !o.InBlocks:
		return rows
	case of == A:
		return rows * (depth / squares)
	}
	return rows / squares * (depth / squares)
}

// squares is how many elements of a row have one of the scales of blocks.
const squares = 128

// ScaleAt is which of the scales of a side element k of a row has.
func (o Op) ScaleAt(of Side, row, k, rows, depth int64) int64 {
	switch {
	case !o.InBlocks:
		return row
	case of == A: // block by block
		return k/squares*rows + row
	}
	return row/squares*(depth/squares) + k/squares
}

// ElementOf is the bytes of an element of a side, given those of the plan's elements.
func (o Op) ElementOf(of Side, plan int64) int64 {
	if o.Scales == 2 || of == B && o.Scales == 1 {
		return schedule.E4M3.Bits() / 8
	}
	return plan
}

// Kind of an operation.
type Kind uint8

// Works says that operations of the kind read and write memory.
func (k Kind) Works() bool {
	return k == Copy || k == Product || k == Sum || k == Apply || k == Call || k == Take || k == Collective
}

// Kinds of operations.
const (
	After     Kind = iota // main waits for the group's last run
	Record                // an event marks all work of the stream so far
	WaitEvent             // the stream waits for the event's last record
	Signal                // waits and writes of words, in order
	Copy
	Product // a matrix product
	Sum     // the sum of its operands, in their order; the last may be one row, added to each row
	Apply   // a function of the first operand, of its elements or rows, with the others
	Call    // work of the caller's own, which takes all of its operands
	Take    // packets that landed are taken: their memory is 0 again
	// Collective is work of ranks together, by one communicator: the n-th of a rank's list meets the n-th of
	// every other. The communicator is of all ranks; on several hosts it is of a rail, the ranks that have one
	// number on their hosts. It reads and writes memory of its own rank.
	Collective
	Done // main's end of the run, for which the next run waits
)

// String is the kind's name.
func (k Kind) String() string {
	names := [...]string{"after", "record", "wait event", "signal", "copy", "product", "sum", "apply", "call",
		"take", "collective", "done"}
	if int(k) >= len(names) {
		return fmt.Sprintf("kind %d", k)
	}
	return names[k]
}

// Word is one item of a Signal: a wait until the word has the value, or a write.
type Word struct {
	Write bool
	At    Loc
	Value uint32
}

// Loc is a place in a rank's memory: a buffer of the program, a semaphore's words,
// step[STREAM], count[STREAM] or workspace[STREAM].
type Loc struct {
	Rank   int
	Buffer string
	Offset int64 // bytes
}

// Use is a range of memory that an operation reads or writes.
type Use struct {
	Write bool
	At    Loc
	Bytes int64
	// Columns: it is a part of the columns of a buffer, a stretch of each of its rows. Offset and Bytes count as if the
	// parts lay one after another, each row by row.
	Columns bool
	// Ahead: a launch that is early may read it before the launches before have ended.
	Ahead bool
}

// String is ready@2+4: the buffer, its rank and the offset in bytes.
func (l Loc) String() string { return string(l.append(nil)) }

// String is "ready@0+4 == 1" or "ready@0+4 = 0".
func (w Word) String() string { return string(w.append(nil)) }

// String is "read A@2+0 64B".
func (u Use) String() string { return string(u.append(nil)) }

// String prints all fields but Node and Step in one line: equal texts are equal operations.
func (o Op) String() string { return string(o.append(nil)) }

// The prover prints every operation of every list, so text is appended to one slice of bytes.
func (l Loc) append(b []byte) []byte {
	b = append(append(b, l.Buffer...), '@')
	b = append(strconv.AppendInt(b, int64(l.Rank), 10), '+')
	return strconv.AppendInt(b, l.Offset, 10)
}

func (w Word) append(b []byte) []byte {
	op := " == "
	if w.Write {
		op = " = "
	}
	return strconv.AppendUint(append(w.At.append(b), op...), uint64(w.Value), 10)
}

func (u Use) append(b []byte) []byte {
	verb := "read "
	if u.Write {
		verb = "write "
	}
	b = append(strconv.AppendInt(append(u.At.append(append(b, verb...)), ' '), u.Bytes, 10), 'B')
	if u.Columns {
		b = append(b, " of columns"...)
	}
	if u.Ahead {
		b = append(b, " ahead"...)
	}
	return b
}

func (o Op) append(b []byte) []byte {
	b = append(append(append(b, o.Stream...), ": "...), o.Kind.String()...)
	if o.Kind == Record || o.Kind == WaitEvent {
		b = strconv.AppendInt(append(b, ' '), int64(o.Event), 10)
	}
	if o.Form != "" {
		b = append(append(b, ' '), o.Form...)
	}
	if o.Columns > 0 {
		b = strconv.AppendInt(append(b, " of rows of "...), o.Columns, 10)
	}
	for _, width := range o.Heads {
		b = strconv.AppendInt(append(b, ", heads of "...), width, 10)
	}
	for _, lies := range o.Lies {
		b = append(append(b, ", an operand "...), lies...)
	}
	if o.LeavesScales {
		b = append(b, ", leaving scales"...)
	}
	if o.Launch != "" {
		b = append(append(b, " in "...), o.Launch...)
	}
	if o.To != o.From || o.To != 0 {
		b = strconv.AppendInt(append(b, " to "...), int64(o.To), 10)
		b = strconv.AppendInt(append(b, " from "...), int64(o.From), 10)
	}
	if o.Scales > 0 {
		b = append(b, [...]string{1: " scaled by the second", 2: " scaled"}[o.Scales]...)
	}
	if o.ScaledTerms > 0 {
		b = append(strconv.AppendInt(append(b, " of "...), int64(o.ScaledTerms), 10), " scaled terms"...)
	}
	if o.InBlocks {
		b = append(b, " by blocks"...)
	}
	if o.Accumulate {
		b = append(b, " accumulate"...)
	}
	if o.InOrder {
		b = append(b, " in order"...)
	}
	if o.Kernel != "" {
		b = append(append(b, " by kernel "...), o.Kernel...)
	}
	if o.Early {
		b = append(b, " early"...)
	}
	if o.ByBlocks && o.AtOnce {
		b = append(b, " by groups"...)
	} else if o.ByBlocks {
		b = append(b, " by blocks"...)
	}
	if o.Part > 0 {
		b = strconv.AppendInt(append(b, " part "...), int64(o.Part), 10)
	}
	if o.AtOnce {
		b = append(b, " at once"...)
	}
	if o.Count.Buffer != "" {
		b = o.Count.append(append(b, " counting in "...))
	}
	for i, w := range o.Words {
		b = w.append(append(b, sep(i)...))
	}
	for i, u := range o.Uses {
		b = u.append(append(b, sep(i)...))
	}
	return b
}

func sep(i int) string {
	if i == 0 {
		return ": "
	}
	return ", "
}

// Lines prints a list, an operation a line.
func Lines(list []Op) string {
	var b []byte
	for _, o := range list {
		b = append(o.append(b), '\n')
	}
	return string(b)
}
