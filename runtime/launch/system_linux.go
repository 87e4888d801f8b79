package launch

import (
	"os"
	"syscall"
)

// rankAttributes put a started rank into a separate process group, so that Ctrl-C reaches only the launching process,
// which decides what to do. The rank dies with the thread that forked it.
func rankAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// socketPair is both ends of a connection. Programs that this process starts inherit neither, unless they are given
// one.
func socketPair() (near, far *os.File, err error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(ends[0]), "connection"), os.NewFile(uintptr(ends[1]), "connection"), nil
}
