//go:build cgo

package harness

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/generated/reducescatterinplace"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// besides is a plan after whose runs an element of another rank's rows of A is changed.
type besides struct {
	Plan
	group *group.Group
	a     driver.Ptr
	words int // of a rank's rows
}

func (p *besides) Bind(ctx context.Context, b Buffers) error {
	p.a = b.At["A"]
	return p.Plan.Bind(ctx, b)
}

func (p *besides) Enqueue(s driver.Stream) error {
	other := (p.group.Rank() + 1) % p.group.Size()
	at := p.a + driver.Ptr(4*(other*p.words+p.words-1))
	return errors.Join(p.Plan.Enqueue(s), p.group.Driver().MemsetD32Async(at, 0x43210000, 1, s))
}

// A reduce-scatter in place replaces this rank's rows of A, and a run that changes another
// row is found.
func TestOtherRowsInPlace(t *testing.T) {
	for _, ranks := range []int{2, 3} {
		for _, spoilt := range []bool{false, true} {
			p := ofKind("sum", Program{Name: "reducescatterinplace", Checks: []Divide{{Extent: "M", By: "D"}},
				Types: []driver.Type{driver.FP32},
				Schedule: of(Tensor{Name: "A", Axes: []Axis{{Extent: "D", Outer: []Split{{Kind: "DIDx", Count: "D"}}},
					{Extent: "M"}, {Extent: "N"}}},
					Tensor{Name: "C", Axes: []Axis{{Extent: "M", Outer: []Split{{Kind: "DIDx", Count: "D"}}},
						{Extent: "N"}},
						Within: "A"})})
			made := adapt(reducescatterinplace.New, (*reducescatterinplace.Plan).Bind)
			p.New = func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
				plan, err := made(ctx, g, s)
				if err != nil || !spoilt {
					return plan, err
				}
				return &besides{Plan: plan, group: g, words: s.M / g.Size() * s.N}, nil
			}
			synctest.Test(t, func(t *testing.T) {
				err := testShape(t.Context(), &p, Shape{M: 12, N: 8, Type: driver.FP32}, ranks, 1)
				switch {
				case !spoilt && err != nil:
					t.Errorf("%d ranks: %v", ranks, err)
				case spoilt && (err == nil || !strings.Contains(err.Error(), "the run has changed A, an input")):
					t.Errorf("%d ranks, an element of another row changed: %v", ranks, err)
				}
			})
		}
	}
}
