package ops

import (
	"fmt"
	"strings"

	"ovgen/schedule/hostir"
)

// Op is one operation that a host enqueues on a stream.
type Op struct {
	Kind   Kind
	Stream string // as the program names it: main, copy, work[1]
	// Event of Record and WaitEvent, numbered by first record from 0.
	Event int
	// Words that a Signal waits for and writes, in order.
	Words []Word
	// Uses of memory by a Copy, Product or Kernel, reads first.
	Uses []Use
	// Kernel that carries out a Copy, Sum or Signal, empty for the copy engine and for
	// stream memory operations. One launch may be several operations in a row.
	Kernel string
	// Count is the word in which the blocks of a kernel that signals around its work count
	// themselves. The kernel uses it from its start until its work is done, so all
	// operations of the kernel up to then have it. It is unset where its Buffer is empty.
	Count Loc
	// Form of a Product: matmul, linear or gradient, and the function of each element that
	// follows: linear gelu. Of an Apply: the function.
	Form string
	// Accumulate: a Product adds to its result, the last operand that it reads. No other
	// operand may lie in the result.
	Accumulate bool
	// Step is the number of the node in issue order, from 1; zero for After and Done.
	Step int
	// Node of the host program; absent in a recorded operation.
	Node hostir.Node
}

// Kind of an operation.
type Kind uint8

// Works says that operations of the kind read and write memory.
func (k Kind) Works() bool { return k == Copy || k == Product || k == Sum || k == Apply }

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
	Done    // main's end of the run, for which the next run waits
)

// String is the kind's name.
func (k Kind) String() string {
	names := [...]string{"after", "record", "wait event", "signal", "copy", "product", "sum", "apply", "done"}
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
}

// String is ready@2+4: the buffer, its rank and the offset in bytes.
func (l Loc) String() string { return fmt.Sprintf("%s@%d+%d", l.Buffer, l.Rank, l.Offset) }

// String is "ready@0+4 == 1" or "ready@0+4 = 0".
func (w Word) String() string {
	op := "=="
	if w.Write {
		op = "="
	}
	return fmt.Sprintf("%s %s %d", w.At, op, w.Value)
}

// String is "read A@2+0 64B".
func (u Use) String() string {
	verb := "read"
	if u.Write {
		verb = "write"
	}
	return fmt.Sprintf("%s %s %dB", verb, u.At, u.Bytes)
}

// String prints all fields but the node in one line.
func (o Op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", o.Stream)
	switch o.Kind {
	case Record, WaitEvent:
		fmt.Fprintf(&b, "%s %d", o.Kind, o.Event)
	default:
		b.WriteString(o.Kind.String())
	}
	if o.Form != "" {
		b.WriteString(" " + o.Form)
	}
	if o.Accumulate {
		b.WriteString(" accumulate")
	}
	if o.Kernel != "" {
		fmt.Fprintf(&b, " by kernel %s", o.Kernel)
	}
	if o.Count.Buffer != "" {
		fmt.Fprintf(&b, " counting in %s", o.Count)
	}
	for i, w := range o.Words {
		b.WriteString(sep(i) + w.String())
	}
	for i, u := range o.Uses {
		b.WriteString(sep(i) + u.String())
	}
	return b.String()
}

func sep(i int) string {
	if i == 0 {
		return ": "
	}
	return ", "
}

// Lines prints a list, an operation a line.
func Lines(list []Op) string {
	var b strings.Builder
	for _, o := range list {
		b.WriteString(o.String() + "\n")
	}
	return b.String()
}
