//go:build cgo

package capi

/*
extern char **environ;
static char **ovgen_environ(void) { return environ; }
*/
import "C"

import (
	"os"
	"strings"
	"unsafe"
)

// refresh gives Go the variables that the process has now. A library's Go runtime
// takes the variables that the process was started with: setenv, and Python's os.environ, would
// not be seen.
func refresh() {
	now := map[string]bool{}
	for at := C.ovgen_environ(); at != nil &&
		*at != nil; at = (**C.char)(unsafe.Add(unsafe.Pointer(at), unsafe.Sizeof(*at))) {
		name, value, ok := strings.Cut(C.GoString(*at), "=")
		if !ok || name == "" {
			continue
		}
		now[name+"="+value] = true
	}
	for entry := range now {
		name, value, _ := strings.Cut(entry, "=")
		if have, set := os.LookupEnv(name); !set || have != value {
			os.Setenv(name, value)
		}
	}
}
