package plan

import (
	"context"

	"ovgen/runtime/driver"
)

// Runner is the common part of the plans of all generated packages. It has no Bind, whose type is the package's.
type Runner interface {
	Enqueue(driver.Stream) error
	Replay(driver.Stream) error
	Run(context.Context) error
	Close(context.Context) error
	Base() *Plan
}

// Sized is the Shape of a generated package.
type Sized interface {
	Shape
	Memory(ranks int) (Memory, error) // the most memory that a plan needs on any rank
}

// SetChosen keeps the schedule that a tuning chose, and the reason, for dumps.
func (p *Plan) SetChosen(why string) { p.chosen = why }
