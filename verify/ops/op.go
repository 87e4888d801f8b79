package ops

import (
	"fmt"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// LaunchOf describes a launch of a kernel of the caller: "4 blocks of 256 threads, 64, 128", with the arguments last.
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
	// Kernel carries out a Copy, Sum or Signal; it is empty for the copy engine and for stream memory operations. One
	// launch may be several operations in a row.
	Kernel string
	// Count is the word in which the blocks of a kernel count themselves, if the kernel signals around its work. The
	// kernel uses the word from its start until its work is done, so all operations of the kernel up to then have it.
	// It is unset where its Buffer is empty.
	Count Loc
	// ByBlocks: each block of the kernel does all operations of its launch, on its part of each use. The words named
	// here are the words of the first block; each other block has further words, which the blocks with its number in
	// other launches post and await. Two uses of the same bytes have the same parts. Where all blocks run at once, this
	// holds for each group of tiles of a part.
	ByBlocks bool
	// Part is the part of a kernel's launch to which the operation belongs, from 1. Operations of the launch before its
	// first part have no part. The parts begin when these have ended, and run side by side; operations after the last
	// part follow all parts.
	Part int
	// AtOnce: all blocks of the launch run at the same time, so a part that waits does not keep the device from another
	// part.
	AtOnce bool
	// Form of a Product: matmul, linear or gradient, and the function of each element that follows: linear gelu. Of a
	// Collective: its kind, as package hostir names it. Of an Apply: the schedule.Key of its formulas. Of a Sum: the
	// key of the formulas that it applies before it rounds. Of a Call: the name of the call.
	Form string
	// Lies says how the further operands of an Apply, or of a Sum's formulas, lie. Columns is the number of columns of
	// a row, 0 where nothing depends on it. Heads are the widths of heads in the formula, in its order.
	Lies    []schedule.Lies
	Columns int64
	Heads   []int64
	// LeavesScales: behind its result, an Apply also writes the numbers by which its formula divides the rows, or a
	// Call writes the scales of its rows.
	LeavesScales bool
	// Launch of a Call by a kernel, as LaunchOf prints it.
	Launch string
	// ScaledTerms is the number of terms of a Sum that have eight bits. Each has scales, one for each Scaled elements.
	// A Copy or a Take with Scaled moves scales of rows of so many elements, by blocks that have whole rows.
	ScaledTerms int
	Scaled      int64
	// Scales is the number of a Product's operands with scales: 2, or 1 if only the second operand has them.
	Scales int
	// Codes are the types of a Product's operands that have scales, where one of them is not e4m3: "e5m2 by e4m3".
	Codes string
	// InBlocks: the scales are of blocks of rows, and of squares of the second operand.
	InBlocks bool
	// InOrder: the library, or a kernel of tiles, gives a row of a Product the same bits whatever the number of rows.
	InOrder bool
	// Accumulate: a Product adds to its result, which it reads. No other operand may lie in the result.
	Accumulate bool
	// To and From are the ranks that an exchange sends to and gets from.
	To, From int
	// Early: the launch may start when the launch before it on its stream lets it, and do its reads ahead. It does all
	// other work after the end of the launch before, for which it waits in any case. A launch that starts early and
	// reads nothing ahead is a plain one here: touch.Awaits refuses kernels that do anything before they wait.
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

// ScalesOf is the number of scales of a side that has more than one; the side has rows of depth elements.
func (o Op) ScalesOf(of Side, rows, depth int64) int64 {
	switch {
	case !o.InBlocks:
		return rows
	case of == A:
		return rows * (depth / squares)
	}
	return rows / squares * (depth / squares)
}

// squares is the number of elements of a row that have one scale, where scales are of blocks.
const squares = 128

// ScaleAt is the index, among the scales of a side, of the scale of element k of a row.
func (o Op) ScaleAt(of Side, row, k, rows, depth int64) int64 {
	switch {
	case !o.InBlocks:
		return row
	case of == A: // block by block
		return k/squares*rows + row
	}
	return row/squares*(depth/squares) + k/squares
}

// ElementOf is the number of bits of an element of a side, given that of the plan's elements.
func (o Op) ElementOf(of Side, plan int64) int64 {
	if o.Scales == 2 || of == B && o.Scales == 1 {
		return schedule.E4M3.Bits()
	}
	return plan
}

// Kind of an operation.
type Kind uint8

// Works reports whether operations of the kind read and write memory.
func (k Kind) Works() bool {
	return k == Copy || k == Product || k == Sum || k == Apply || k == Call || k == Take || k == Collective
}

// Exchanges reports whether two ranks send each other a part, or one sends and another gets it. Such a part may be
// empty: then the operation does not use it.
func (o *Op) Exchanges() bool { return o.Kind == Collective && o.Form == string(hostir.Exchange) }

// Kinds of operations.
const (
	After     Kind = iota // main waits for the group's last run
	Record                // an event marks all work of the stream so far
	WaitEvent             // the stream waits for the event's last record
	Signal                // waits and writes of words, in order
	Copy
	Product // a matrix product
	Sum     // the sum of its terms, in their order, and formulas of that, with their operands behind the terms
	Apply   // a function of the elements or rows of the first operand, with the other operands beside it
	Call    // work of the caller, which reads all of its operands
	Take    // packets that landed are taken: their memory is 0 again
	// Collective is work of several ranks together, by one communicator: the n-th collective of a rank's list meets the
	// n-th of every other rank. The communicator joins all ranks or, on several hosts, the ranks of a rail, which have
	// the same number on their hosts. A collective reads and writes only memory of its rank.
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
	// Columns: the range is a part of the columns of a buffer, a stretch of each of its rows. Offset and Bytes count as
	// if the parts lay one after another, each row by row.
	Columns bool
	// Ahead: an early launch may read the range before the launches before it have ended.
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
	b = o.appendCarried(o.appendScales(o.appendMade(b)))
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

// appendMade prints the rows, heads and operands that a function is made of, and where a call or an exchange goes.
func (o *Op) appendMade(b []byte) []byte {
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
	return b
}

// appendScales prints the operands and terms that have scales.
func (o *Op) appendScales(b []byte) []byte {
	if o.Scales > 0 {
		b = append(b, [...]string{1: " scaled by the second", 2: " scaled"}[o.Scales]...)
	}
	if o.Codes != "" {
		b = append(append(b, " of "...), o.Codes...)
	}
	if o.ScaledTerms > 0 {
		b = append(strconv.AppendInt(append(b, " of "...), int64(o.ScaledTerms), 10), " scaled terms"...)
	}
	if o.Scaled > 0 {
		b = append(strconv.AppendInt(append(b, ", a scale for "...), o.Scaled, 10), " elements"...)
	}
	if o.InBlocks {
		b = append(b, " by blocks"...)
	}
	return b
}

// appendCarried prints how a product adds, and the launch that does the work.
func (o *Op) appendCarried(b []byte) []byte {
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
