//go:build !linux

package group_test

import (
	"errors"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/launch"
)

// TestElsewhere: on a system other than Linux a rank learns at once that it can't run.
func TestElsewhere(t *testing.T) {
	if _, err := group.Join(t.Context(), group.Config{Size: 1, Job: "elsewhere"}); !errors.Is(err,
		driver.ErrUnavailable) {
		t.Errorf("Join: %v", err)
	}
	if err := (&launch.Command{Ranks: 1}).Run(t.Context()); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("launch: %v", err)
	}
}
