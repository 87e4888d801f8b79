//go:build !linux || !cgo

package cuda

import (
	"errors"
	"testing"

	"ovgen/runtime/driver"
)

// TestUnavailable: the backend is there, and says why it has no devices.
func TestUnavailable(t *testing.T) {
	b, err := driver.Lookup("cuda")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Count(); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("Count: %v", err)
	}
	if _, err := b.Open(0, 0); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("Open: %v", err)
	}
}
