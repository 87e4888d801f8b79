//go:build !linux

package launch

import (
	"os"
	"syscall"

	"ovgen/runtime/launcher"
)

func rankAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func socketPair() (near, far *os.File, err error) { return nil, nil, launcher.Supported() }
