package harness

import (
	"context"

	_ "ovgen/runtime/alike"
	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	_ "ovgen/runtime/dump"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Operations and placements are types of package schedule.
type (
	Op     = schedule.Op
	Func   = schedule.Func
	Tensor = schedule.Tensor
	Axis   = schedule.Axis
	Split  = schedule.Split
)

// Divide is a requirement of New on a shape, in the words of package hostir.
type Divide = hostir.Divide

// Program is a generated package in the form that the harness drives. The package itself does not import verify/:
// generated/run fills in these fields.
type Program struct {
	Name  string // "allgatherlinear"
	Proof string // its stamp: "unproven", or the ranks of the proof
	Ranks []int  // group sizes for which it was proven; empty means any
	Eager bool   // it can't be replayed as a graph
	// Schedule of the package: the computation, and the part of each operand and result on a rank.
	Schedule schedule.Schedule
	Checks   []Divide // the requirements of New on a shape
	// Types it accepts, the default first.
	Types []driver.Type
	// New makes the package's plan; it is collective.
	New func(ctx context.Context, g *group.Group, s Shape) (Plan, error)
	// Memory is the memory that a plan of a shape needs on each rank.
	Memory func(ranks int, s Shape) (plan.Memory, error)
}

// Buffers are one rank's device pointers by the names of the tensors, and the counts of uneven parts, one a rank.
type Buffers struct {
	At     map[string]device.Ptr
	Counts []int
}

// Plan is the part of a generated package's Plan that the harness uses. A generated Plan
// embedded in a struct with a Bind that converts Buffers is one:
//
//	type linear struct{ *allgatherlinear.Plan }
//
//	func (p linear) Bind(ctx context.Context, b harness.Buffers) error {
//		return p.Plan.Bind(ctx, allgatherlinear.Buffers{A: b.At["A"], B: b.At["B"], Bias: b.At["Bias"], C: b.At["C"]})
//	}
type Plan interface {
	Bind(ctx context.Context, b Buffers) error
	Enqueue(s driver.Stream) error
	Replay(s driver.Stream) error // Enqueue by one launch of the plan's graph
	Run(ctx context.Context) error
	Close(ctx context.Context) error
}
