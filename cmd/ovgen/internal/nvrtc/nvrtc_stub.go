//go:build !cgo

package nvrtc

import "fmt"

// Compiler is never made: this build can't load a library.
type Compiler struct{}

// Open returns the error that this build can't load a library.
func Open(path string) (*Compiler, error) {
	return nil, fmt.Errorf("open NVRTC at %s: %w", path, errNoCgo)
}

// Version is empty.
func (*Compiler) Version() string { return "" }

// Path is empty.
func (*Compiler) Path() string { return "" }

// Compile fails as Open does.
func (*Compiler) Compile(string, []byte, map[string][]byte, []string) ([]byte, error) {
	return nil, errNoCgo
}

// errNoCgo counts as ErrMissing: device code is treated as if no NVRTC were found.
var errNoCgo error = noCgo{}

type noCgo struct{}

// Error states the remedy.
func (noCgo) Error() string {
	return "this ovgen was built without cgo (build it with CGO_ENABLED=1 and a C compiler)"
}

// Is reports whether the error is ErrMissing.
func (noCgo) Is(target error) bool { return target == ErrMissing }
