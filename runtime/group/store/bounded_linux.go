package store

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// bounded sets a limit after which a connection ends whose peer takes no bytes: the time after which it ends without
// answers to its probes.
func bounded(_, _ string, c syscall.RawConn) (err error) {
	set := c.Control(func(fd uintptr) {
		limit := (1 + probes) * probeEvery
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
	})
	if set != nil {
		return set
	}
	return err
}
