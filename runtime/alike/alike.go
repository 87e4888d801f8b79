// Package alike compares the operands that all ranks must hold alike, where group.Config.Check or OVGEN_CHECK asks for
// it. It serves programs that import it: no run needs it.
package alike

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

func init() { group.RegisterChecker(check) }

// DifferenceError reports operands that must be the same on all ranks and are not. Every rank gets the same error, and
// no rank has begun the run.
type DifferenceError struct {
	Plan     string       // "plan 3 (allgatherlinear)"
	Operands []Difference // at least one
}

// Difference is an operand of a plan, and the ranks whose bytes of it differ from rank 0's.
type Difference struct {
	Operand string
	Ranks   []int
}

// Error names the operands and their ranks; the call that returns it names the plan.
func (e *DifferenceError) Error() string {
	var list []string
	for _, d := range e.Operands {
		list = append(list, fmt.Sprintf("%s differs: ranks %v have other bytes than rank 0", d.Operand, d.Ranks))
	}
	return strings.Join(list, "; ") + " (bind the same values on all ranks)"
}

// check makes the ranks compare the operands that all ranks must hold alike, if there are any. All ranks are at the
// same run.
func check(ctx context.Context, g *group.Group, t group.Tracer, on driver.Stream) error {
	p, ok := t.(*plan.Plan)
	if !ok {
		return fmt.Errorf("compare operands of %s: it is no plan of package plan", t.Name())
	}
	var operands []plan.BufferPart
	for _, b := range p.Components().Buffers {
		if b.Alike {
			operands = append(operands, b)
		}
	}
	if len(operands) == 0 {
		return nil
	}
	if ctx == nil {
		var cancel func()
		ctx, cancel = context.WithTimeout(context.Background(), g.CallTimeout())
		defer cancel()
	}
	mine, failed := sums(g.Driver(), operands, g.Rank(), on)
	all, err := g.Gather(ctx, "compare operands of "+p.String(), mine) // also where this rank failed
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	return compare(p.String(), operands, all)
}

// piece is the bytes of an operand that are copied to the host at once.
const piece = 16 << 20

// sums has a sum of 8 bytes of each operand on this rank, after all work that the stream has enqueued.
func sums(d driver.Driver, operands []plan.BufferPart, rank int, on driver.Stream) (list []byte, err error) {
	if err := d.StreamSynchronize(on); err != nil {
		return nil, err
	}
	for _, b := range operands {
		h, part := sha256.New(), make([]byte, min(b.Bytes, piece))
		for at := int64(0); at < b.Bytes; at += piece {
			part = part[:min(piece, b.Bytes-at)]
			if err := d.MemcpyDtoH(part, b.At[rank]+driver.Ptr(at)); err != nil {
				return nil, fmt.Errorf("read %s: %w", b.Name, err)
			}
			_, _ = h.Write(part) // it returns no error
		}
		list = append(list, h.Sum(nil)[:sumBytes]...)
	}
	return list, nil
}

// sumBytes is the size of an operand's sum.
const sumBytes = 8

// compare compares the sums of all ranks with rank 0's.
func compare(name string, operands []plan.BufferPart, all [][]byte) error {
	e := &DifferenceError{Plan: name}
	for i, b := range operands {
		var ranks []int
		for r, list := range all {
			if len(list) != sumBytes*len(operands) {
				return fmt.Errorf("rank %d could not read its operands", r)
			}
			if at := sumBytes * i; !bytes.Equal(list[at:at+sumBytes], all[0][at:at+sumBytes]) {
				ranks = append(ranks, r)
			}
		}
		if ranks != nil {
			e.Operands = append(e.Operands, Difference{b.Name, ranks})
		}
	}
	if e.Operands == nil {
		return nil
	}
	return e
}
