//go:build !linux

package sim

import (
	"fmt"
	"runtime"
	"time"

	"ovgen/runtime/driver"
)

// supported is the reason why no device can be opened.
func supported() error {
	return fmt.Errorf("the simulator needs Linux, this is %s: %w", runtime.GOOS, driver.ErrUnavailable)
}

func createFile(string, int64) (int, error) { return -1, supported() }

func shortSleep(d time.Duration) { time.Sleep(d) }
