package run

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ovgen/verify/sampling"
)

// failing is generated/run with three programs that fail between two that don't: one on all ranks, one on rank 1 alone,
// one behind its first shape, whose rows stand there already. For tune it has others: one that all have, and two
// whose tiles rank 1 can't have, for their bits and for another reason.
const failing = `package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/programs"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/runtime/samebits"
	"ovgen/verify/harness"
	"ovgen/verify/run"
	_ "ovgen/verify/sim"
)

func main() {
	var all []harness.Program
	for _, name := range []string{"one", "refused", "torn", "large", "last"} {
		p := named(allgatherlinear.Program.Name)
		p.Name = name
		make := p.New
		p.New = func(ctx context.Context, g *group.Group, s harness.Shape) (harness.Plan, error) {
			switch {
			case name == "refused":
				return nil, errors.New("refused by the test")
			case name == "large" && s.M != 32:
				return nil, errors.New("not at its second shape")
			case name == "torn" && g.Rank() == 1:
				return nil, errors.New("torn by the test")
			}
			return make(ctx, g, s)
		}
		all = append(all, p)
	}
	if os.Args[1] == "tune" {
		differs := fmt.Errorf("make it: %w", &samebits.DifferError{Device: "a test's"})
		all = []harness.Program{named("invariantmlp"), refused("tiles", differs),
			refused("torn", errors.New("torn by the test"))}
	}
	os.Exit(run.Main(all, &code))
}

// refused is InvariantMLPTiles, which New refuses on rank 1.
func refused(name string, failed error) harness.Program {
	p := named("invariantmlptiles")
	p.Name = name
	p.New = func(_ context.Context, g *group.Group, _ harness.Shape) (harness.Plan, error) {
		if g.Rank() == 1 {
			return nil, failed
		}
		return nil, &plan.RankError{Rank: 1, Text: failed.Error()}
	}
	return p
}

func named(name string) harness.Program {
	for _, p := range programs.All {
		if p.Name == name {
			return p
		}
	}
	panic(name)
}
`

// TestFailing: verify goes on behind a program that fails, and says at the end which did. Tune leaves out one that has
// other bits than the library, and says so; it ends with other failures.
func TestFailing(t *testing.T) {
	sampling.Test(t, 0, 3)
	dir := t.TempDir()
	main, err := filepath.Abs("../../generated/run/main.go")
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, "main.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{main: changed}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(changed, []byte(failing), 0o644),
		os.WriteFile(filepath.Join(dir, "overlay"), overlay, 0o644)); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay"), "-o", run,
		"ovgen/generated/run").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, x := range []struct {
		args   string
		status int
		want   []string
	}{
		{"verify all", exitWrong, []string{"\none ", "\nlast ",
			"FAILED: verify refused, 32,64,48 bf16: refused by the test", "FAILED: verify torn, 32,64,48 bf16: ",
			"FAILED: 3 of 5 programs (refused, torn, large) on 2 ranks"}},
		{"verify all -oneprocess", exitWrong, []string{"\nlast ",
			"FAILED: 3 of 5 programs (refused, torn, large) on 2 ranks"}},
		{"verify one torn", exitWrong, []string{"\none ", "FAILED: 1 of 2 programs (torn)"}},
		{"verify all -json", exitWrong,
			[]string{`{"program":"refused","error":"verify refused, 32,64,48 bf16: refused by`}},
		{"verify large", exitTrouble, []string{"\nlarge ", "run: verify large, 5", ": not at its second shape"}},
		{"tune invariantmlp tiles -extents F=64 -o " + filepath.Join(dir, "tuned"), 0, []string{
			"tiles is not to be had at 32,64,48,F=64 bf16: rank 1: make it: column 0 of row 0 has bits", "on a test's",
			"\ninvariantmlp ", "written to"}},
		{"tune tiles -json -extents F=64 -o " + filepath.Join(dir, "tuned"), 0,
			[]string{`{"program":"tiles","error":"rank 1: make it: column 0`}},
		{"tune invariantmlp torn -extents F=64 -o " + filepath.Join(dir, "tuned"), exitTrouble,
			[]string{"run: tune invariantmlp, ", ": torn by the test"}},
		{"verify refused", exitTrouble, []string{"run: verify refused, 32,64,48 bf16: refused by the test"}},
	} {
		args := append(strings.Fields(x.args), "-driver", "sim", "-ranks", "2", "-type", "bf16", "-iters", "1",
			"-timeout", "60s")
		out, err := exec.Command(run, args...).CombinedOutput()
		status := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			status = exit.ExitCode()
		}
		if status != x.status {
			t.Errorf("run %s: status %d, want %d\n%s", x.args, status, x.status, out)
		}
		for _, w := range x.want {
			if !strings.Contains(string(out), w) {
				t.Errorf("run %s: no %q in\n%s", x.args, w, out)
			}
		}
	}
}
