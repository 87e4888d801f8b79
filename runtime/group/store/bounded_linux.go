package store

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// bounded ends a connection whose bytes nobody takes for as long as probes would.
func bounded(_, _ string, c syscall.RawConn) (err error) {
	set := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int((1+probes)*probeEvery/1e6))
	})
	if set != nil {
		return set
	}
	return err
}
