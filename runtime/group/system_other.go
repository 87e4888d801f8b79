//go:build !linux

package group

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"ovgen/runtime/driver"
)

// supported is why no rank can run here.
func supported() error {
	return fmt.Errorf("ranks need Linux, this is %s: %w", runtime.GOOS, driver.ErrUnavailable)
}

func memfd(string) (*os.File, error) { return nil, supported() }

func rankAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
