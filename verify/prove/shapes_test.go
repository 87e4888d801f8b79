package prove_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
)

func counterexample(t *testing.T, err error) *prove.Counterexample {
	t.Helper()
	var c *prove.Counterexample
	if !errors.As(err, &c) {
		t.Fatalf("proven, or no counterexample: %v", err)
	}
	return c
}

// A way that cuts a result by its elements adds no row to each part: a part need not be whole rows.
func TestFlatWithRow(t *testing.T) {
	s := catalog.LinearAllReduceTwoShot
	s.Ops = []schedule.Op{schedule.Linear("C", "A", "B", schedule.Bias("Bias"))}
	s.Tensors = append(slices.Clone(s.Tensors), schedule.Tensor{Name: "Bias", Axes: s.Tensors[2].Axes[1:]})
	p := program(t, "X", s)
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}}); err != nil {
		t.Errorf("where the ranks divide the rows: %v", err)
	}
	for i, c := range p.Checks {
		if c.Extent == schedule.M {
			p.Checks[i].With = schedule.N
		}
	}
	_, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}})
	c := counterexample(t, err)
	if c.Property != prove.Shapes || !strings.Contains(c.Problem, "of which a sum takes rows") {
		t.Error(err)
	}
}

// A program whose steps depend on the shape is not proven by one shape, and refused.
func TestShapes(t *testing.T) {
	rows := hostir.Var("M")
	for name, edit := range map[string]func(*hostir.Program){
		"index": func(p *hostir.Program) {
			change(func(s *hostir.Copy) { s.To.Index = hostir.Mod(rows, hostir.Size) })(p)
		},
		"bound": func(p *hostir.Program) {
			p.Body = append(p.Body, hostir.For{Index: "j", From: hostir.Const(0), To: rows})
		},
		"branch": func(p *hostir.Program) {
			p.Body = append(p.Body, hostir.If{X: rows, Y: hostir.Const(4)})
		},
		"peer": func(p *hostir.Program) {
			p.Body = append(p.Body, hostir.Post(hostir.StreamRef{}, "ready", rows))
		},
		"value": func(p *hostir.Program) {
			p.Body = append(p.Body, hostir.Let{Name: "j", Value: rows})
		},
		"a product of a part that is no rows": func(p *hostir.Program) {
			p.Checks = []hostir.Divide{{Extent: "M", With: "K", By: "D"}}
		},
		"part of a chunk": func(p *hostir.Program) {
			p.Buffers[0].Chunk = hostir.Add(p.Buffers[0].Chunk, hostir.Const(1))
		},
		"chunks that grow otherwise": func(p *hostir.Program) {
			p.Buffers[0].Chunk = hostir.Const(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t, name, catalog.AllGatherMatmul)
			edit(p)
			_, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}})
			if c := counterexample(t, err); c.Property != prove.Shapes {
				t.Error(err)
			}
		})
	}
}

// The stamp is that of what was proven: the same each time, another for another
// program, other sizes or other operations.
func TestStamp(t *testing.T) {
	seen := map[string]string{}
	for name, s := range schedules {
		for _, ranks := range [][]int{nil, {2}, {2, 3}} {
			p := program(t, name, s)
			a, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks})
			if err != nil {
				t.Fatal(err)
			}
			b, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: ranks})
			if err != nil || a.Stamp != b.Stamp || len(a.Stamp) != 64 {
				t.Errorf("%s: stamps %q and %q: %v", name, a.Stamp, b.Stamp, err)
			}
			what := name + a.String()
			if other, ok := seen[a.Stamp]; ok {
				t.Errorf("%s and %s have one stamp", what, other)
			}
			seen[a.Stamp] = what
		}
	}
}

// A program that can't be proven for want of an input is an error, and no counterexample.
func TestErrors(t *testing.T) {
	good := parse(t, "main S[0:8] = A")
	m := needed(model, good)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name  string
		ctx   context.Context
		lists [][]ops.Op
		runs  int
		want  string
	}{
		{"no ranks", t.Context(), nil, 0, "0 ranks"},
		{"one run", t.Context(), good, 1, "at least 2 runs"},
		{"no start", t.Context(), [][]ops.Op{good[0][1:]}, 0, "a run begins with"},
		{"no end", t.Context(), [][]ops.Op{good[0][:2]}, 0, "no Done ends it"},
		{"two runs in a list", t.Context(), [][]ops.Op{append(append([]ops.Op{}, good[0]...), good[0]...)}, 0,
			"operation 2 is done"},
		{"canceled", canceled, good, 0, "context canceled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := prove.Lists(test.ctx, m, test.lists, test.runs)
			var c *prove.Counterexample
			if err == nil || errors.As(err, &c) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	m.Semaphores = []string{"unused"}
	lists := parse(t, "main S[0:8] = A", "main S[0:8] = A")
	_, err := prove.Lists(t.Context(), m, lists, 0)
	if c := counterexample(t, err); c.Property != prove.Allocations {
		t.Error(err)
	}
}

// A step that does what no step can is not proven.
func TestWrongStep(t *testing.T) {
	p := gatherProgram(t)
	more := hostir.Together(onMain, "more", hostir.Whole("C"), hostir.Whole("A"))
	p.Body = append(p.Body, hostir.If{X: hostir.Rank, Y: hostir.Rank, Then: []hostir.Node{more}})
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}}); err == nil ||
		!strings.Contains(err.Error(), `there is no collective "more"`) {
		t.Errorf("got %v", err)
	}
}

func gatherProgram(t *testing.T) *hostir.Program {
	t.Helper()
	p, err := lower.Lower("X", catalog.AllGather)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
