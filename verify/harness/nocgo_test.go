//go:build linux && !cgo

package harness_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"ovgen/generated/allgatherlinear"
	"ovgen/generated/allgatherlinearkernels"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestWithoutCgo: New fails with ErrUnavailable for a package with kernels and leaves
// the group usable; a package without kernels runs.
func TestWithoutCgo(t *testing.T) {
	c := simtest.Config{Config: sim.Config{Devices: 1}}
	err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
		shape := allgatherlinearkernels.Shape{M: 8, K: 8, N: 8, Type: driver.FP32}
		if _, err := allgatherlinearkernels.New(ctx, g, shape); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("New with kernels: %v", err)
		}
		p, err := allgatherlinear.New(ctx, g, allgatherlinear.Shape{M: 8, K: 8, N: 8, Type: driver.FP32})
		if err != nil {
			return fmt.Errorf("new without kernels: %w", err)
		}
		return p.Close(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
