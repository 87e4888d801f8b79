package sim

import (
	"time"

	"golang.org/x/sys/unix"
)

// supported is nil: Linux has all that simulated devices need.
func supported() error { return nil }

// createFile makes an empty memfd; its name tells importers that it is the one they mean.
func createFile(name string, bytes int64) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	if err := unix.Ftruncate(fd, pages(bytes)); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// shortSleep sleeps for far less than one of Go's timers can.
func shortSleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&t, nil)
}
