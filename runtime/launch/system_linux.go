package launch

import "syscall"

// Supported is nil: ranks run on Linux.
func Supported() error { return nil }

// rankAttributes put a started rank into a process group of its own, so that Ctrl-C
// comes to the launching process, which decides; the rank dies with the thread that
// forked it.
func rankAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
