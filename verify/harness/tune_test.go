package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
)

// chosen is the tuned operation as the harness drives it.
type chosen struct{ *tuned.AllGatherLinear }

func (p chosen) Bind(ctx context.Context, b Buffers) error {
	return p.AllGatherLinear.Bind(ctx, allgatherlinear.Buffers{A: b.At["A"], B: b.At["B"], Bias: b.At["Bias"], C: b.At["C"]})
}

// tunedTo is a program by what a tuning names for each rank.
func tunedTo(seen func(plan.Choice), program func(rank int) string) *Program {
	return &Program{Name: "tuned", Op: "linear", Tensors: linearTensors, Types: []driver.Type{driver.BF16},
		New: func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
			shape := allgatherlinear.Shape{M: s.M, K: s.K, N: s.N, Type: s.Type}
			t := &plan.Tuning{}
			t.Put(plan.Measured{Operation: "allgatherlinear", GPU: g.Driver().Properties().Name, Ranks: g.Size(), Shape: shape.String(),
				Program: program(g.Rank()), Replayed: true, Milliseconds: 1})
			p, err := tuned.NewAllGatherLinear(ctx, g, t, shape)
			if err != nil {
				return nil, err
			}
			seen(p.Choice())
			return chosen{p}, nil
		}}
}

func TestTuned(t *testing.T) {
	for _, x := range []struct {
		name    string
		program func(rank int) string
		is      any
		want    string
	}{
		{"another schedule", func(int) string { return "allgatherlinearput" }, nil, ""},
		{"the operation's own", func(int) string { return "allgatherlinear" }, nil, ""},
		{"an unknown one", func(int) string { return "nosuch" }, new(*plan.UnknownChoiceError), "tune again"},
		{"another on each rank", func(r int) string { return []string{"allgatherlinear", "allgatherlinearput"}[r] }, new(*plan.DisagreementError), "chosen:"},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var choices [2]plan.Choice
				n := 0
				var mu sync.Mutex // the ranks are goroutines
				p := tunedTo(func(c plan.Choice) {
					mu.Lock()
					defer mu.Unlock()
					choices[n%2], n = c, n+1
				}, x.program)
				err := testShape(t.Context(), p, Shape{M: 24, K: 16, N: 8, Type: driver.BF16}, 2, 1)
				if x.is == nil {
					if err != nil || choices[0].Program != x.program(0) || !strings.Contains(choices[1].String(), "measured on 2 of") {
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
	measured := &plan.Tuning{}
	measured.Put(plan.Measured{Operation: "linearallreduce", GPU: "simulated device", Ranks: 2, Shape: "M 16, K 16, N 8, bf16",
		Program: "linearallreduceoneshot", Milliseconds: 1})
	for _, x := range []struct {
		name   string
		tuning *plan.Tuning
		m      int
		want   string
	}{
		{"beside", measured, 15, "linearallreduceoneshot: measured on 2 of simulated device at M 16, K 16, N 8, bf16"},
		{"without", nil, 1, "linearallreduceoneshot: not measured on 2 of simulated device at M 1, K 16, N 8, bf16, and linearallreduce does not take it: M is 1"},
		{"without, taken by the first", nil, 16, "linearallreduce: not measured"},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := &Program{Name: "tuned", Op: "linear", Types: []driver.Type{driver.BF16},
				Tensors: []Tensor{tensor("A", inM, columnsK), tensor("B", inN, columnsK), tensor("C", inM, inN)},
				New: func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
					p, err := tuned.NewLinearAllReduce(ctx, g, x.tuning, linearallreduce.Shape{M: s.M, K: s.K, N: s.N, Type: s.Type})
					if err == nil && !strings.HasPrefix(p.Choice().String(), x.want) {
						err = fmt.Errorf("chosen: %s", p.Choice())
					}
					return one{p}, err
				}}
			synctest.Test(t, func(t *testing.T) {
				if err := testShape(t.Context(), p, Shape{M: x.m, K: 16, N: 8, Type: driver.BF16}, 2, 1); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestTuneAndTrace runs the commands in processes.
func TestTuneAndTrace(t *testing.T) {
	run, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command := func(args string) string {
		t.Helper()
		c := exec.Command(run, strings.Fields(args)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("run %s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, more := range []string{"", " allgatherlinearput"} { // the second finds the file of the first
		out := command("tune allgatherlinear linearreducescatter -driver sim -ranks 2 -iters 1 -type bf16 -shapes 8,8,8" + more)
		table, err := plan.ReadTuning(filepath.Join(dir, "tuning.json"))
		if err != nil || len(table.Entries) != 2 || table.Entries[0].Operation == table.Entries[1].Operation {
			t.Fatalf("%+v, %v\n%s", table, err, out)
		}
		for _, m := range table.Entries {
			if m.Shape != "M 8, K 8, N 8, bf16" || m.Ranks != 2 || !strings.HasPrefix(m.Program, m.Operation) {
				t.Errorf("%+v", m)
			}
		}
	}
	// What does not take a shape is left out, and the operation keeps its name.
	out := command("tune linearallreduce linearallreduceoneshot -driver sim -ranks 2 -iters 1 -type bf16 -shapes 15,8,8 -o other.json -json")
	if want := `{"operation":"linearallreduce","gpu":"simulated device","ranks":2,"shape":"M 15, K 8, N 8, bf16","program":"linearallreduceoneshot",`; !strings.Contains(out, want) {
		t.Errorf("no %s in\n%s", want, out)
	}
	out = command("tune allgathergateup -driver sim -ranks 2 -iters 1 -type bf16 -shapes 8,8,8 -extents N2=24 -o other.json -json")
	if want := `"shape":"M 8, K 8, N 8, N2 24, bf16"`; !strings.Contains(out, want) {
		t.Errorf("no %s in\n%s", want, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "tuning.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(run, strings.Fields("tune allgatherlinear -driver sim -ranks 2 -iters 1 -type bf16 -shapes 8,8,8")...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "make it again with run tune") {
		t.Errorf("a broken file: %v\n%s", err, out)
	}

	command("trace allgatherlinear linearreducescatter -driver sim -ranks 2 -shapes 8,8,8 -svg picture.svg")
	for name, products := range map[string]int{"allgatherlinear": 4, "linearreducescatter": 4} {
		text, err := os.ReadFile(filepath.Join(dir, name+".trace.json"))
		if err != nil {
			t.Fatal(err)
		}
		var trace struct {
			TraceEvents []struct {
				Name, Ph, Cat string
				Pid           int
				Dur           float64
			}
		}
		if err := json.Unmarshal(text, &trace); err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, e := range trace.TraceEvents {
			if e.Ph == "X" {
				found[fmt.Sprint(e.Cat, " of ", e.Pid)]++
				if e.Dur < 0 {
					t.Errorf("%s of %s takes %g us", e.Name, name, e.Dur)
				}
			}
		}
		if found["product of 0"]+found["product of 1"] != products || found["copy of 1"] != 1 || found["wait of 0"] == 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "picture.svg")); err != nil {
		t.Error(err)
	}
}
