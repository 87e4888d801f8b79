package scenario

import (
	"os"
	"testing"

	"ovgen/generated/programs"
	"ovgen/verify/programtest"
)

// TestSoak runs the test of every generated package under as many seeds as OVGEN_SOAK
// asks for, side by side on all cores. It is one binary, so that a machine with many
// cores and no Go can run it.
func TestSoak(t *testing.T) {
	if os.Getenv("OVGEN_SOAK") == "" {
		t.Skip("each package tests itself under one seed; OVGEN_SOAK is not set")
	}
	for _, p := range programs.All {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			programtest.Run(t, p)
		})
	}
}
