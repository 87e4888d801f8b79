//go:build !linux

package launcher

import (
	"fmt"
	"runtime"

	"ovgen/runtime/driver"
)

// Supported is why no rank can run on this system; it wraps driver.ErrUnavailable.
func Supported() error {
	return fmt.Errorf("ranks need Linux, and this is %s: %w", runtime.GOOS, driver.ErrUnavailable)
}
