//go:build cgo

package nvrtc

/*
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "library.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unsafe"
)

// Compiler is a loaded NVRTC.
type Compiler struct {
	library *C.ovgen_nvrtc
	path    string
	version string
	made    map[string][]byte // PTX by its source and options
}

// Open loads the library at path.
func Open(path string) (*Compiler, error) {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	why := make([]byte, 512)
	n := C.ovgen_nvrtc_open(cpath, (*C.char)(unsafe.Pointer(&why[0])), C.size_t(len(why)))
	if n == nil {
		return nil, fmt.Errorf("open NVRTC at %s: %s", path, C.GoString((*C.char)(unsafe.Pointer(&why[0]))))
	}
	var major, minor C.int
	if r := C.ovgen_nvrtc_version(n, &major, &minor); r != 0 {
		return nil, fmt.Errorf("open NVRTC at %s: nvrtcVersion: %s", path, C.GoString(C.ovgen_nvrtc_error(n, r)))
	}
	return &Compiler{library: n, path: path, version: fmt.Sprintf("%d.%d", major, minor),
		made: map[string][]byte{}}, nil
}

// Version is "12.4".
func (c *Compiler) Version() string { return c.version }

// Path is the path of the library.
func (c *Compiler) Path() string { return c.path }

// Compile compiles a program to PTX. The program may include headers by name and nothing else. An error in the program
// is a *SourceError. Compile compiles a generated program once for all packages that share it, under one name. Only one
// goroutine may use the compiler at a time.
func (c *Compiler) Compile(name string, source []byte, headers map[string][]byte, options []string) ([]byte, error) {
	as := name
	if _, _, own := split(source); !own {
		as = shared
	}
	key := keyOf(as, source, headers, options)
	if ptx, ok := c.made[key]; ok {
		return slices.Clone(ptx), nil
	}
	ptx, err := c.compile(as, source, headers, options)
	if wrong := (*SourceError)(nil); errors.As(err, &wrong) {
		wrong.Name = name
		if as == shared {
			wrong.Log = sharedInLog.ReplaceAllString(wrong.Log, "${1}"+name)
		}
	}
	if err == nil {
		c.made[key] = slices.Clone(ptx)
	}
	return ptx, err
}

func (c *Compiler) compile(name string, source []byte, headers map[string][]byte, options []string) ([]byte, error) {
	var texts cTexts
	defer texts.free()
	var names, sources, opts []*C.char
	for _, h := range slices.Sorted(maps.Keys(headers)) {
		names = append(names, texts.add(h))
		sources = append(sources, texts.add(string(headers[h])))
	}
	for _, o := range options {
		opts = append(opts, texts.add(o))
	}
	var ptx, log *C.char
	r := C.ovgen_nvrtc_compile(c.library, texts.add(name), texts.add(string(source)),
		C.int(len(names)), unsafe.SliceData(sources), unsafe.SliceData(names), C.int(len(opts)),
		unsafe.SliceData(opts), &ptx, &log)
	defer C.free(unsafe.Pointer(ptx))
	defer C.free(unsafe.Pointer(log))
	switch r {
	case 0:
		return []byte(C.GoString(ptx)), nil
	case compilationError:
		return nil, &SourceError{Name: name, Log: C.GoString(log)}
	}
	return nil, fmt.Errorf("compile %s: nvrtc: %s", name, C.GoString(C.ovgen_nvrtc_error(c.library, r)))
}

// compilationError is NVRTC_ERROR_COMPILATION.
const compilationError = 6

// cTexts are C strings that are freed together.
type cTexts []*C.char

func (t *cTexts) add(s string) *C.char {
	c := C.CString(s)
	*t = append(*t, c)
	return c
}

func (t cTexts) free() {
	for _, c := range t {
		C.free(unsafe.Pointer(c))
	}
}
