package group

import (
	"os"

	"golang.org/x/sys/unix"
)

// memfd is an anonymous file; its name shows in /proc only.
func memfd(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
