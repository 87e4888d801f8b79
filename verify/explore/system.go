package explore

import "ovgen/verify/ops"

// System is the input of an exploration.
type System struct {
	// Ranks lists the operations that each rank enqueues for one run, in enqueue order.
	Ranks [][]ops.Op
	// Memory lists the buffers that are overwritten between runs: the callers' by the
	// callers, and shared staging by other plans of the group.
	Memory []Buffer
	// Results are the contents that the callers expect to read after each run.
	Results []Result
	// Words is the number of bytes of each semaphore's words on a rank, where it is known.
	Words map[string]int64
	// Turns are the buffers and semaphores that runs use in turn.
	Turns map[string]Turn
	// Columns has the buffers whose columns are cut into parts.
	Columns map[string]Columns
	// Narrow is the number of bits of an element, for buffers whose elements are narrower than the plan's.
	Narrow map[string]int64
	// Wide has the buffers whose elements have twice the bytes of the plan's.
	Wide map[string]bool
	// ElementBits is the number of bits of an element; 32 if zero.
	ElementBits int64
	// Hosts is the number of hosts, with equally many ranks on each; zero means one host. Ranks that have the same
	// number on their hosts form a communicator.
	Hosts int
	// Unbuffered: an exchange also needs that the rank that it sends to has begun. NCCL may wait for that or not.
	Unbuffered bool
	// Ordered: results depend on the order in which a Sum adds its terms.
	Ordered bool
	// Modes lists the mode of each run; it is the same on all ranks.
	Modes []Mode
	// Full takes every step from every state: no reduction.
	Full bool
	// First stops at the first violation.
	First bool
	// Limit is the greatest number of states at which orders branch; 20000 if zero.
	Limit int

	known *contents // the results of steps that Learned has computed
}

// Buffer is a range of memory that is overwritten before each run and after the last.
type Buffer struct {
	ops.Use
	// Plan: it belongs to the plan. Otherwise it belongs to the caller, and peers may not
	// write it.
	Plan bool
	// Private: peers may not read it either.
	Private bool
	// Constant: it is written only before the first run.
	Constant bool
	// Input: it has fresh contents, from which results are made; other memory has no contents.
	Input bool
	// Values are the values of an input in each run; nil gives each element a different number.
	Values func(run int) []Number
}

// Result is a range and the contents it must have after each run.
type Result struct {
	At   ops.Use
	Want func(run int) []Number
}

// Mode is the way a run is executed.
type Mode uint8

// Modes of a run.
const (
	// Eager: each stream in order, streams side by side.
	Eager Mode = iota
	// Captured: the run is one graph, launched on main.
	Captured
	// InOrder: one operation of a rank at a time, in the order of enqueueing, like streams
	// that share one hardware queue.
	InOrder
)

// String is the mode's name.
func (m Mode) String() string { return [...]string{"eager", "captured", "in order"}[m] }

// Property that a violation breaks.
type Property string

// Properties.
const (
	NoRace     Property = "no race"     // conflicting operations never run together
	NoDeadlock Property = "no deadlock" // some step can be taken while work is left
	OnePost    Property = "one post"    // a wait has one post, which finds the word reset
	AtRest     Property = "at rest"     // every word is 0 after the last run
	Contents   Property = "contents"    // callers read the right results
	InRun      Property = "in run"      // operations, and accesses by peers, lie between a run's start and end
	Owned      Property = "plan-owned"  // peers write no caller's memory, and read only shared memory
	Capturable Property = "capturable"  // a run forks from main and joins it
	Agreed     Property = "agreed"      // all ranks of a communicator have the same collectives
	Serial     Property = "serial-safe" // no deadlock one operation of a rank at a time
	// a launch of packets uses only memory that packets have announced, and takes the packets back
	Told Property = "told"
	// lists have the form of runs; ranks and memory exist; a wait is followed by its reset at once, and a reset
	// follows a wait; a stream notes its own steps; a word is signalled by blocks, or never
	WellFormed Property = "well formed"
	Reached    Property = "reached" // a rank uses only memory and words of its host
)

// Violation is a property that does not hold, and an order of steps that shows it.
type Violation struct {
	Property Property
	Text     string
	Order    []string // steps from the start; the last ones are the offenders
}

// Verdict is the result of an exploration.
type Verdict struct {
	// Violations found, one for each property at most.
	Violations []Violation
	// States at which orders branched, and steps taken in all.
	States, Steps int
	// Complete: no limit was reached, and First did not end the search.
	Complete bool
}

// Safe reports whether the search was complete and found no violation.
func (v Verdict) Safe() bool { return v.Complete && len(v.Violations) == 0 }

// Broke reports whether the search found the property broken.
func (v Verdict) Broke(p Property) bool {
	for _, x := range v.Violations {
		if x.Property == p {
			return true
		}
	}
	return false
}
