package harness

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/generated/allgatherlinear"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// says is a plan whose Shape.Memory says something else.
type says struct {
	Plan
	change func(*plan.Memory)
}

func (p says) Base() *plan.Plan { return p.Plan.(measured).Base() }

func (p says) Memory() (plan.Memory, error) {
	m, err := p.Plan.(measured).Memory()
	p.change(&m)
	return m, err
}

// TestMemory finds a Shape.Memory that is not what New takes.
func TestMemory(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*plan.Memory)
		want   string
	}{
		{"right", func(*plan.Memory) {}, ""},
		{"words", func(m *plan.Memory) { m.Words++ }, "New took"},
		{"staging", func(m *plan.Memory) { m.Staging -= 256 }, "New took"},
		{"a buffer", func(m *plan.Memory) { m.Buffers[0].Bytes++ }, "and its placement"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := *program(nil)
			made := adapt(allgatherlinear.New, (*allgatherlinear.Plan).Bind)
			p.New = func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
				plan, err := made(ctx, g, s)
				return says{plan, x.change}, err
			}
			synctest.Test(t, func(t *testing.T) {
				err := testShape(t.Context(), &p, Shape{M: 16, K: 16, N: 16, Type: driver.FP32}, 2, 1)
				if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
			})
		})
	}
}
