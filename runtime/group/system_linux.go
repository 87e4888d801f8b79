package group

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// supported is nil: groups are made of what Linux has.
func supported() error { return nil }

// memfd is an anonymous file; its name shows in /proc only.
func memfd(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// rankAttributes put a started rank into a process group of its own, so that Ctrl-C
// comes to the launching process, which decides; the rank dies with the thread that
// forked it.
func rankAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
