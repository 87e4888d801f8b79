package mutate_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ovgen/verify/mutate"
	"ovgen/verify/sampling"
)

const templates = "../../templates"

// Every mistake can be made, each once; the command judges them all.
func TestKernels(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutate.Kernels {
		if names[m.Name()] {
			t.Errorf("two mutants are %s", m.Name())
		}
		names[m.Name()] = true
		if err := mutate.Mutable(templates, m); err != nil {
			t.Error(err)
		}
	}
}

// Mistakes of transports, one of a sum over a block, and a change that is right: for each, all tests of
// the kernels run. The command judges all mutants.
func TestJudgeKernel(t *testing.T) {
	if !sampling.All() {
		t.Skip("it compiles much C++, and OVGEN_SOAK is not set")
	}
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++ here, and the kernels are compiled for the host")
	}
	judge, err := mutate.NewKernelJudge(t.Context(), templates)
	if err != nil {
		t.Fatal(err)
	}
	defer judge.Close()
	for _, c := range []struct {
		name string
		want mutate.Class
		why  string
	}{
		{"device/blocks.h: only block 0 waits", mutate.Caught, "run: "},
		{"device/ptx.h: a wait that does not acquire", mutate.Caught, "data race"},
		{"device/blocksum.h: a sum that still grows", mutate.Caught, "data race"},
		{"device/early.h: a start that does not wait", mutate.Caught, "data race"},
		{"post.cu.tmpl: no fence before the release", mutate.Safe, "a release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := slices.IndexFunc(mutate.Kernels, func(m mutate.KernelMutant) bool { return m.Name() == c.name })
			if i < 0 {
				t.Fatal("there is no such mutant")
			}
			got, why, err := judge.Judge(t.Context(), mutate.Kernels[i])
			if err != nil {
				t.Error(err)
			} else if got != c.want || !strings.Contains(why, c.why) {
				t.Errorf("it is %s: %s; want %s: %s", got, why, c.want, c.why)
			}
		})
	}
	broken := mutate.KernelMutant{File: "post.cu.tmpl", Text: "no C++",
		Old: "threadIdx.x < p.count", New: "threadIdx.x <"}
	if class, why, err := judge.Judge(t.Context(), broken); err == nil {
		t.Errorf("a mutant that does not compile is %s: %s", class, why)
	}
}
