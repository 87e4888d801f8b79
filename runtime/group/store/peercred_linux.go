package store

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// sameUser asks the kernel which user opened the other end.
func sameUser(c net.Conn, uid int) error {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		cred, sockErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if sockErr != nil {
		return fmt.Errorf("read peer credentials: %w", sockErr)
	}
	if int(cred.Uid) != uid {
		return fmt.Errorf("user %d: %w", cred.Uid, ErrForeign)
	}
	return nil
}
