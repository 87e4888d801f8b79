package sim

import (
	"time"

	"golang.org/x/sys/unix"
)

// supported is nil: Linux has everything that simulated devices need.
func supported() error { return nil }

// createFile makes an empty memfd; the name tells importers which block it is.
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

// shortSleep sleeps for a much shorter time than Go's timers can.
func shortSleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&t, nil)
}
