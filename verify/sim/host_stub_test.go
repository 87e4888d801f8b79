//go:build linux && !cgo

package sim_test

import (
	"errors"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// TestKernelsWithoutCgo: loading kernels fails with ErrUnavailable, and all else works.
func TestKernelsWithoutCgo(t *testing.T) {
	w := sim.NewWorld(sim.Config{Devices: 1})
	defer w.Close()
	d := open(t, w, 0)
	if _, err := d.ModuleLoadData(&driver.Code{Name: "x"}); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("ModuleLoadData: %v", err)
	}
	if err := sim.Missing(); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("Missing is %v", err)
	}
}
