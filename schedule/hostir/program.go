package hostir

import "ovgen/schedule"

// Program is the host program of a schedule.
type Program struct {
	Name       string // of the schedule
	Schedule   schedule.Schedule
	Buffers    []Buffer
	Semaphores []string // each a word for every peer, in the waiter's memory
	Streams    []StreamSet
	Constants  Env      // names that generation binds: streams
	Checks     []Divide // what New requires of the shape
	Setup      []Node   // once, in New and Bind
	Body       []Node   // each run
}

// Buffer is memory that the program names.
type Buffer struct {
	Name   string
	Tensor schedule.Tensor // its placement
	Owner  Owner
	// Shared says that peers read it.
	Shared bool
	// Elements this rank holds, and the elements of one slice of its outermost
	// part (a shard, or a step's rows).
	Elements, Chunk Expr
}

// Owner of a buffer.
type Owner string

// Owners.
const (
	Caller Owner = "caller" // bound by Bind
	Plan   Owner = "plan"   // allocated by New in the arena
)

// StreamSet is a stream, or streams numbered from First up to, not including, Count.
type StreamSet struct {
	Name         string
	First, Count Expr // absent: a single stream
	High         bool // top priority, else lowest
}

// Divide is a requirement on the shape: By divides Extent.
type Divide struct{ Extent, By schedule.Extent }

// Buffer returns the buffer of that name.
func (p *Program) Buffer(name string) (Buffer, bool) {
	for _, b := range p.Buffers {
		if b.Name == name {
			return b, true
		}
	}
	return Buffer{}, false
}
