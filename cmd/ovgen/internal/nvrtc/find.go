package nvrtc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Paths of the wheels' files below a toolchain folder.
const (
	libraryFile = "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
	ptxasFile   = "nvidia/cuda_nvcc/bin/ptxas"
	folder      = ".toolchain"
)

// ErrMissing says that no NVRTC was named and that no toolchain folder has one.
var ErrMissing = errors.New("no NVRTC (run make toolchain in a checkout of ovgen; ovgen help gen has the " +
	"command for elsewhere)")

// Install is the command that installs the NVRTC of this package into the folder in which it is run.
const Install = "python3 -m pip install --no-deps --target " + folder +
	" nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127"

// Find loads the NVRTC at path or, if path is empty, at OVGEN_NVRTC, or in the folder .toolchain of dir or of a folder
// above dir. A named library that can't be loaded is an error; if none is named or found, the error wraps ErrMissing.
func Find(path, dir string) (*Compiler, error) {
	if path == "" {
		path = os.Getenv("OVGEN_NVRTC")
	}
	if path != "" {
		return Open(path)
	}
	found, err := above(dir, libraryFile)
	if err != nil {
		return nil, err
	}
	if found == "" {
		return nil, fmt.Errorf("look for %s in %s and above: %w", filepath.Join(folder, libraryFile), dir, ErrMissing)
	}
	return Open(found)
}

// FindAssembler returns the ptxas at OVGEN_PTXAS or in the toolchain folder, or nil if there is none: ptxas only
// checks.
func FindAssembler(dir string) (*Assembler, error) {
	path := os.Getenv("OVGEN_PTXAS")
	if path == "" {
		var err error
		if path, err = above(dir, ptxasFile); err != nil || path == "" {
			return nil, err
		}
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("find ptxas: %w", err)
	}
	return &Assembler{path: path, used: map[string][]string{}}, nil
}

// above returns a file of the toolchain folder nearest to dir, or an empty path.
func above(dir, file string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", file, err)
	}
	for {
		path := filepath.Join(dir, folder, file)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}
