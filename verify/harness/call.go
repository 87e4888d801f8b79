package harness

import (
	"context"
	"math"
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

// standIn stands for a call, by work or by codes, on the operands that have the type of the plan.
func standIn(d driver.Driver, s Shape, p schedule.Schedule, o Op) plan.Call {
	enqueue := work(d, s.Type.Size())
	if t, _ := p.Tensor(o.Out); t.Scale != "" {
		enqueue = codes(d, s.Type.Size())
	}
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

// work stands for the caller's work, which the harness does not know. The result has as many blocks as there are
// operands. Each block gets the last elements of one operand, repeated where the block is longer; so the first rows
// depend on the last. Before that, all operands are copied into the result, since the caller's work would read them;
// unless an operand lies in the result. No block is written before the end of that operand is read.
func work(d driver.Driver, element int64) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		if err := read(d, on, to, from); err != nil {
			return err
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

// read reads all operands into a result, unless an operand lies there.
func read(d driver.Driver, on driver.Stream, to plan.Range, from []plan.Range) error {
	if slices.ContainsFunc(from, func(x plan.Range) bool { return x.At == to.At }) {
		return nil
	}
	for _, x := range from {
		for at := int64(0); at < x.Bytes; at += to.Bytes {
			n := min(to.Bytes, x.Bytes-at)
			if err := d.MemcpyDtoDAsync(to.At, x.At+driver.Ptr(at), n, on); err != nil {
				return err
			}
		}
	}
	return nil
}

// codes is work for a result of eight bits: a code is the last byte of an element, which has its sign and most of its
// exponent. The rows of the first half have the scale 1, the other rows 2.
func codes(d driver.Driver, element int64) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		if err := read(d, on, to, from); err != nil {
			return err
		}
		for i, x := range from {
			at, end := to.Bytes*int64(i)/int64(len(from)), to.Bytes*(int64(i)+1)/int64(len(from))
			for at < end {
				n := min(end-at, x.Bytes/element)
				err := d.Memcpy2DAsync(driver.Memcpy2D{Dst: to.At + driver.Ptr(at), DstPitch: 1,
					Src: x.At + driver.Ptr(x.Bytes-(n-1)*element-1), SrcPitch: element, Width: 1, Height: n}, on)
				if err != nil {
					return err
				}
				at += n
			}
		}
		err := d.MemsetD32Async(to.Scales, math.Float32bits(2), to.Rows, on)
		if first := to.Rows / 2; err == nil && first > 0 {
			err = d.MemsetD32Async(to.Scales, math.Float32bits(1), first, on)
		}
		return err
	}
}
