//go:build linux && cgo

package cuda

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
)

// TestMissingLibraries: where another test of this process has loaded cuBLASLt, it is looked for once more.
func TestMissingLibraries(t *testing.T) {
	blasLibrary.Lock()
	loaded := blasLibrary.loaded
	blasLibrary.loaded = false
	blasLibrary.Unlock()
	defer func() {
		blasLibrary.Lock()
		defer blasLibrary.Unlock()
		blasLibrary.loaded = loaded
	}()
	for _, c := range []struct {
		err  error
		want []string
	}{
		{load("libovgen-absent.so.1"), []string{"open libovgen-absent.so.1", "No such file", "R550", "--gpus all"}},
		{loadBlas([]string{"libovgen-a.so", "/absent/libovgen-b.so"}), []string{"open cuBLASLt", "libovgen-a.so",
			"/absent/libovgen-b.so", "OVGEN_CUBLASLT", "site-packages/nvidia"}},
		{load("libc.so.6"), []string{"it has no cuInit"}},
		{loadBlas([]string{"libc.so.6"}), []string{"libc.so.6 has no cublasLtCreate"}},
	} {
		if !errors.Is(c.err, driver.ErrUnavailable) {
			t.Errorf("%v is not ErrUnavailable", c.err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(c.err.Error(), w) {
				t.Errorf("%q is missing in %q", w, c.err)
			}
		}
	}
}

func TestBlasPaths(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		value   string
		version int
		want    []string
	}{
		{"", 13000, []string{"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
			"/usr/local/cuda/lib64/libcublasLt.so.12"}},
		{"", 12080, []string{"libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.12"}},
		{"/x/mine.so", 13000, []string{"/x/mine.so"}},
		{dir, 13000, []string{filepath.Join(dir, "libcublasLt.so.13"), filepath.Join(dir, "libcublasLt.so.12")}},
	} {
		if got := blasPaths(c.value, c.version); !slices.Equal(got, c.want) {
			t.Errorf("paths of %q for %d: %v, want %v", c.value, c.version, got, c.want)
		}
	}
}

func TestRegistered(t *testing.T) {
	b, err := driver.Lookup("cuda")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := b.Count(); err != nil && !errors.Is(err, driver.ErrUnavailable) || err == nil && n == 0 {
		t.Errorf("%d devices, %v", n, err)
	}
}
