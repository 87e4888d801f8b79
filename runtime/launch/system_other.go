//go:build !linux

package launch

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"ovgen/runtime/driver"
)

// Supported is why no rank can run on this system; it wraps driver.ErrUnavailable.
func Supported() error {
	return fmt.Errorf("ranks need Linux, and this is %s: %w", runtime.GOOS, driver.ErrUnavailable)
}

func rankAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func socketPair() (near, far *os.File, err error) { return nil, nil, Supported() }
