//go:build !cgo

package nvrtc

import (
	"errors"
	"strings"
	"testing"
)

// TestWithoutCgo: a library that is named, or lies in a toolchain folder, counts as missing.
func TestWithoutCgo(t *testing.T) {
	for _, path := range []string{"", "/no/such/libnvrtc.so"} {
		_, err := Find(path, ".")
		if !errors.Is(err, ErrMissing) {
			t.Errorf("Find(%q) answers %v", path, err)
		}
	}
	if _, err := Open("x"); !strings.Contains(err.Error(), "CGO_ENABLED=1") {
		t.Errorf("Open says %q and not what to do", err)
	}
}
