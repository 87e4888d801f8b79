//go:build cgo

package programtest

import (
	"slices"
	"testing"
	"testing/synctest"

	"ovgen/generated/programs"
	"ovgen/runtime/launcher"
	"ovgen/verify/harness"
)

// TestAlike runs every program whose schedule has operands that all ranks must hold alike, and compares them ahead of
// each run: the harness gives other values to each rank where the docs do not ask for the same.
func TestAlike(t *testing.T) {
	for _, p := range programs.All {
		agrees := func(x harness.Tensor) bool { return p.Schedule.MustAgree(x.Name) }
		if !slices.ContainsFunc(p.Schedule.Tensors, agrees) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Setenv(launcher.EnvCheck, "1")
			ranks, typ := p.TestRanks()[0], p.Types[0]
			synctest.Test(t, func(t *testing.T) {
				s := p.TestShapes(typ, ranks)[0]
				if err := runShape(t.Context(), &p, s, ranks, p.Schedule.FewestHosts(ranks), 1); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
