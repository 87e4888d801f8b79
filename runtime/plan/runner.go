package plan

import (
	"context"

	"ovgen/runtime/driver"
)

// Runner is the common part of the plans of all generated packages. Bind is not in it, since each package binds a type
// of its own.
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
	Memory(ranks int) (Memory, error) // of a plan, on a rank at most
}

// SetChosen keeps the schedule that a tuning chose, and why, for dumps.
func (p *Plan) SetChosen(why string) { p.chosen = why }
