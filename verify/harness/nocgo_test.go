//go:build linux && !cgo

package harness_test

import (
	"errors"
	"testing"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/allgatherlinearkernels"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/verify/sim"
)

// TestWithoutCgo: New fails with ErrUnavailable for a package with kernels and leaves
// the group usable; a package without kernels runs.
func TestWithoutCgo(t *testing.T) {
	w := sim.NewWorld(sim.Config{Devices: 1})
	defer w.Close()
	d, err := w.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := group.Join(t.Context(), group.Config{Size: 1, Job: "nocgo", Driver: d, Network: store.Memory()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := allgatherlinearkernels.New(t.Context(), g, allgatherlinearkernels.Shape{M: 8, K: 8, N: 8, Type: driver.FP32}); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("New with kernels: %v", err)
	}
	p, err := allgatherlinear.New(t.Context(), g, allgatherlinear.Shape{M: 8, K: 8, N: 8, Type: driver.FP32})
	if err != nil {
		t.Fatalf("New without kernels: %v", err)
	}
	if err := errors.Join(p.Close(t.Context()), g.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
