package harness

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/generated/allgatherlinear"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// linear is a program as generated/run drives it; wrong spoils its results.
type linear struct {
	*allgatherlinear.Plan
	c     driver.Ptr
	wrong func(d driver.Driver, c driver.Ptr, s driver.Stream) error
	group *group.Group
}

func (p *linear) Bind(ctx context.Context, b Buffers) error {
	p.c = b.At["C"]
	return p.Plan.Bind(ctx, allgatherlinear.Buffers{A: b.At["A"], B: b.At["B"], Bias: b.At["Bias"], C: b.At["C"]})
}

func (p *linear) Enqueue(s driver.Stream) error {
	err := p.Plan.Enqueue(s)
	if p.wrong != nil {
		err = errors.Join(err, p.wrong(p.group.Driver(), p.c, s))
	}
	return err
}

var linearTensors = []Tensor{
	{Name: "A", Axes: []Axis{{Extent: "M", Outer: []Split{{Kind: "DIDx", Count: "D"}}}, {Extent: "K"}}},
	{Name: "B", Axes: []Axis{{Extent: "N"}, {Extent: "K"}}},
	{Name: "Bias", Axes: []Axis{{Extent: "N"}}},
	{Name: "C", Axes: []Axis{{Extent: "M", Outer: []Split{{Kind: "Stream", Count: "D"}}}, {Extent: "N"}}},
}

func program(wrong func(driver.Driver, driver.Ptr, driver.Stream) error) *Program {
	return ofKindPtr("linear", Program{Name: "allgatherlinear", Schedule: of(linearTensors...),
		Types: []driver.Type{driver.BF16, driver.FP16, driver.FP32},
		New: func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
			p, err := allgatherlinear.New(ctx, g, allgatherlinear.Shape{M: s.M, K: s.K, N: s.N, Type: s.Type})
			return &linear{Plan: p, wrong: wrong, group: g}, err
		}})
}

// TestCheck changes one element after each run, or leaves one unwritten.
func TestCheck(t *testing.T) {
	for _, x := range []struct {
		name  string
		wrong func(d driver.Driver, c driver.Ptr, s driver.Stream) error
		want  string
	}{
		{"right", nil, ""},
		{"another value", func(d driver.Driver, c driver.Ptr, s driver.Stream) error {
			return d.MemsetD32Async(c+16, 0x43210000, 1, s)
		}, "row 0, column 4 is 161, want "},
		{"unwritten", func(d driver.Driver, c driver.Ptr, s driver.Stream) error {
			return d.MemsetD32Async(c+7*16*4, poison, 1, s)
		}, "row 7, column 0 is NaN, want "},
		{"a race", func(d driver.Driver, c driver.Ptr, s driver.Stream) error {
			other, err := d.StreamCreateWithPriority(driver.Normal)
			if err != nil {
				return err
			}
			return errors.Join(d.MemcpyDtoDAsync(c, c+64, 64, other), d.StreamSynchronize(s),
				d.StreamSynchronize(other), d.StreamDestroy(other))
		}, "race on bytes"},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := testShape(t.Context(), program(x.wrong), Shape{M: 16, K: 64, N: 16, Type: driver.FP32}, 2, 1)
				if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
			})
		})
	}
}
