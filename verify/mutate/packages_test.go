package mutate_test

import (
	"strings"
	"testing"

	"ovgen/verify/mutate"
	"ovgen/verify/sampling"
)

const generated = "../../generated"

// Every mistake can be made, each once; the command judges them all.
func TestPackages(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutate.Packages {
		if names[m.Name()] {
			t.Errorf("two mutants are %s", m.Name())
		}
		names[m.Name()] = true
		if _, err := m.Apply(generated); err != nil {
			t.Error(err)
		}
	}
}

// One mistake, one change that is right, and one that does not compile.
func TestJudgePackage(t *testing.T) {
	sampling.Test(t, 0, 3)
	if testing.Short() {
		t.Skip("builds tests of generated packages")
	}
	mutant := func(old, to, right string) mutate.PackageMutant {
		return mutate.PackageMutant{Package: "alltoall", File: "program.go", Text: to,
			Edits: []mutate.Edit{{Old: old, New: to}}, Right: right}
	}
	for _, x := range []struct {
		mutate.PackageMutant
		want mutate.Class
		why  string
	}{
		{mutant("	q.Wait(p.copy, p.read)\n", "", ""), mutate.Caught, "eager run 1"},
		{mutant("	// Join.\n", "	// Meet.\n", "it is a remark"), mutate.Safe, "a remark"},
		{mutant("	q.Wait(p.copy, p.read)\n", "	q.Wait(p.copy, p.gone)\n", ""), "", "did not run"},
	} {
		class, why, err := mutate.JudgePackage(t.Context(), generated, x.PackageMutant)
		if err != nil {
			why = err.Error()
		}
		if class != x.want || (err != nil) != (x.want == "") || !strings.Contains(why, x.why) {
			t.Errorf("%q is %q: %s; want %q: %s", x.Text, class, why, x.want, x.why)
		}
	}
}
