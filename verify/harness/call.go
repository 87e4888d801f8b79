package harness

import (
	"context"
	"reflect"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/schedule"
)

// Calling is a plan that takes functions for the calls of its operations.
type Calling interface {
	Calls(list []Op, of func(Op) plan.Call)
}

// Calls gives the plan a function for each call.
func (p adapted[B]) Calls(list []Op, of func(Op) plan.Call) {
	for _, o := range list {
		if o.Call != "" {
			reflect.ValueOf(p.Runner).Elem().FieldByName(o.Call).Set(reflect.ValueOf(of(o)))
		}
	}
}

// calling is a Program's New whose plans have stand-ins for the calls of its operations.
func calling(of schedule.Schedule, make func(context.Context, *group.Group, Shape) (Plan, error)) func(context.Context,
	*group.Group, Shape) (Plan, error) {
	return func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
		p, err := make(ctx, g, s)
		if x, ok := p.(Calling); ok && err == nil {
			x.Calls(of.Ops, func(o Op) plan.Call { return standIn(g.Driver(), s, of, o) })
		}
		return p, err
	}
}

// standIn stands for a call, as work does, of the operands that have the type of the plan.
func standIn(d driver.Driver, s Shape, p schedule.Schedule, o Op) plan.Call {
	enqueue := work(d, s.Type.Size())
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		var of []plan.Range
		for i, name := range o.In {
			if t, _ := p.Tensor(name); t.Type == "" {
				of = append(of, from[i])
			}
		}
		return enqueue(on, to, of)
	}
}

// work stands for the caller's work, which the harness does not know. The result is in as many blocks as
// there are operands; each gets the last elements of one of them, again and again where it is longer. So the first rows
// depend on the last. Ahead of that everything is read, as the work would, into the result, unless an operand lies
// there: no block is written before the end of that operand is read.
func work(d driver.Driver, element int64) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		scratch := from
		if slices.ContainsFunc(from, func(x plan.Range) bool { return x.At == to.At }) {
			scratch = nil
		}
		for _, x := range scratch {
			for at := int64(0); at < x.Bytes; at += to.Bytes {
				n := min(to.Bytes, x.Bytes-at)
				if err := d.MemcpyDtoDAsync(to.At, x.At+driver.Ptr(at), n, on); err != nil {
					return err
				}
			}
		}
		all, blocks := to.Bytes/element, int64(len(from))
		for i, x := range from {
			at, end := all*int64(i)/blocks*element, all*(int64(i)+1)/blocks*element
			for at < end {
				n := min(end-at, x.Bytes)
				src := x.At + driver.Ptr(x.Bytes-n)
				if src == to.At+driver.Ptr(at) {
					break // the end of an operand is there already
				}
				if err := d.MemcpyDtoDAsync(to.At+driver.Ptr(at), src, n, on); err != nil {
					return err
				}
				at += n
			}
		}
		return nil
	}
}
