package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/linearallreduce"
	"ovgen/generated/tuned"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/tuning"
)

// chosen is the tuned operation as the harness drives it.
type chosen struct{ *tuned.AllGatherLinear }

func (p chosen) Bind(ctx context.Context, b Buffers) error {
	return p.AllGatherLinear.Bind(ctx, allgatherlinear.Buffers{A: b.At["A"], B: b.At["B"],
		Bias: b.At["Bias"], C: b.At["C"]})
}

// tunedTo is a program by what a tuning names for each rank; nil is none.
func tunedTo(seen func(tuning.Choice), program func(rank int) string, tiles string) *Program {
	return ofKindPtr("linear", Program{Name: "tuned", Schedule: of(linearTensors...), Types: []driver.Type{driver.BF16},
		New: func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
			shape := allgatherlinear.Shape{M: s.M, K: s.K, N: s.N, Type: s.Type}
			t := &tuning.Table{}
			if program != nil {
				t.Put(tuning.Measured{Operation: "allgatherlinear", GPU: g.Driver().Properties().Name, Ranks: g.Size(),
					Shape:   shape.String(),
					Program: program(g.Rank()), Tiles: tiles, Replayed: true, Milliseconds: 1})
			}
			p, err := tuned.NewAllGatherLinear(ctx, g, t, shape)
			if err != nil {
				return nil, err
			}
			seen(p.Choice())
			return chosen{p}, nil
		}})
}

func TestTuned(t *testing.T) {
	for _, x := range []struct {
		name    string
		program func(rank int) string
		tiles   string
		is      any
		want    string
	}{
		{"another schedule", func(int) string { return "allgatherlinearput" }, "", nil, ""},
		{"the operation's own", func(int) string { return "allgatherlinear" }, "", nil, ""},
		{"tiles by clusters", func(int) string { return "allgatherlineartiles" }, "tiles3", nil, "by tiles3: "},
		{"tiles by blocks alone", func(int) string { return "allgatherlineartiles" }, "tiles2", nil, "by tiles2: "},
		{"an unknown one", func(int) string { return "nosuch" }, "", new(*tuning.UnknownChoiceError), "tune again"},
		{"unknown tiles", func(int) string { return "allgatherlineartiles" }, "tiles9", new(*plan.UnknownTilesError),
			"tune again"},
		{"tiles of another", func(int) string { return "allgatherlinear" }, "tiles", new(*plan.UnknownTilesError),
			"tune again"},
		{"another on each rank", func(r int) string { return []string{"allgatherlinear", "allgatherlinearput"}[r] },
			"", new(*plan.DisagreementError), "chosen:"},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var choices [2]tuning.Choice
				n := 0
				var mu sync.Mutex // the ranks are goroutines
				p := tunedTo(func(c tuning.Choice) {
					mu.Lock()
					defer mu.Unlock()
					choices[n%2], n = c, n+1
				}, x.program, x.tiles)
				err := testShape(t.Context(), p, Shape{M: 24, K: 16, N: 8, Type: driver.BF16}, 2, 1)
				if x.is == nil {
					if err != nil || choices[0].Program != x.program(0) ||
						!strings.Contains(choices[1].String(), x.want+"measured on 2 of") {
						t.Errorf("%v, %v", choices, err)
					}
					return
				}
				if err == nil || !errors.As(err, x.is) || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %T and %q", err, x.is, x.want)
				}
			})
		})
	}
}

// one is the tuned sum of partial products as the harness drives it.
type one struct{ *tuned.LinearAllReduce }

func (p one) Bind(ctx context.Context, b Buffers) error {
	return p.LinearAllReduce.Bind(ctx, linearallreduce.Buffers{A: b.At["A"], B: b.At["B"], C: b.At["C"]})
}

// TestTunedBeside runs shapes that were not measured: beside one that was, and without a
// tuning at all.
func TestTunedBeside(t *testing.T) {
	measured := &tuning.Table{}
	measured.Put(tuning.Measured{Operation: "linearallreduce", GPU: "simulated device", Ranks: 2,
		Shape:   "M 16, K 16, N 8, bf16",
		Program: "linearallreduceoneshot", Milliseconds: 1})
	for _, x := range []struct {
		name   string
		tuning *tuning.Table
		m      int
		want   string
	}{
		{"beside", measured, 15, "linearallreduceoneshot: measured on 2 of simulated device at M 16, K 16, N 8, bf16"},
		{"without", nil, 1, "linearallreducepackets: not measured on 2 of simulated device at M 1, K 16, N 8, bf16; " +
			"by estimate the fastest sum of 16 bytes that serves, 3.3 us, and linearallreduce does not serve: M is 1"},
		{"without, of few bytes", nil, 16, "linearallreducepackets: not measured on 2 of simulated device at " +
			"M 16, K 16, N 8, bf16; by estimate the fastest sum of 256 bytes that serves, 3.3 us"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := ofKindPtr("linear", Program{Name: "tuned", Types: []driver.Type{driver.BF16},
				Schedule: of(tensor("A", inM, columnsK), tensor("B", inN, columnsK), tensor("C", inM, inN)),
				New: func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
					p, err := tuned.NewLinearAllReduce(ctx, g, x.tuning, linearallreduce.Shape{M: s.M, K: s.K,
						N: s.N, Type: s.Type})
					if err == nil && !strings.HasPrefix(p.Choice().String(), x.want) {
						err = fmt.Errorf("chosen: %s", p.Choice())
					}
					return one{p}, err
				}})
			synctest.Test(t, func(t *testing.T) {
				if err := testShape(t.Context(), p, Shape{M: x.m, K: 16, N: 8, Type: driver.BF16}, 2, 1); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
