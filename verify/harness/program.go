package harness

import (
	"context"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// Program is a generated package as the harness drives it. The package itself
// stays free of verify/: generated/run fills these in.
type Program struct {
	Name  string // "allgatherlinear"
	Proof string // its stamp: "unproven", or what was proven
	Ranks []int  // proven D; empty means any
	Eager bool   // it can't be replayed as a graph
	// Linear: B is [N,K], else [K,N]; Bias: a bias [N] is added to each row.
	Linear, Bias bool
	// Types it accepts, the default first.
	Types []driver.Type
	// New makes the package's plan; it is collective.
	New func(ctx context.Context, g *group.Group, s Shape) (Plan, error)
}

// Shape of C[M,N] = A[M,K] * B; A is sharded by rows, so a rank holds M/D rows.
type Shape struct {
	M, K, N int
	Type    driver.Type
}

// Buffers are one rank's device pointers. Bias is zero where a program has none.
type Buffers struct {
	A, B, Bias, C driver.Ptr
}

// Plan is what the harness needs of a generated package's Plan. A generated
// Plan embedded in a struct with a Bind that converts Buffers is one:
//
//	type linear struct{ *allgatherlinear.Plan }
//
//	func (p linear) Bind(ctx context.Context, b harness.Buffers) error {
//		return p.Plan.Bind(ctx, allgatherlinear.Buffers{A: b.A, B: b.B, Bias: b.Bias, C: b.C})
//	}
type Plan interface {
	Bind(ctx context.Context, b Buffers) error
	Enqueue(s driver.Stream) error
	Replay(s driver.Stream) error // Enqueue by one launch of the plan's own graph
	Run(ctx context.Context) error
	Close(ctx context.Context) error
}
