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

// refresh sets Go's variables to the variables that the process has now. The Go runtime of a library has the variables
// that the process was started with: without refresh it would not see changes by setenv, or by Python's os.environ.
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
