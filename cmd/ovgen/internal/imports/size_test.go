package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ovgen/cmd/ovgen/internal/module"
)

// mostLines bounds the Go of this module that a package imports: a schedule without kernels and one with kernels, to
// which a feature that they do not use should add none, and the choice among all schedules.
var mostLines = map[string]int{"generated/allgatherlinear": 15_529, "generated/gatedmlp": 17_345,
	"generated/tuned": 35_760}

// TestSize counts the lines of Go that these packages bring, without tests.
func TestSize(t *testing.T) {
	for path, most := range mostLines {
		t.Run(path, func(t *testing.T) {
			if lines, packages := linesOf(t, path); lines > most || packages < 5 {
				t.Errorf("%d lines in %d packages, want at most %d: give parts that production does not need a "+
					"package of their own", lines, packages, most)
			}
		})
	}
}

// linesOf counts the lines, and the packages, that a package imports of this module.
func linesOf(t *testing.T, path string) (lines, packages int) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,CgoFiles,Module",
		module.Package(path)).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir   string
			GoFiles, CgoFiles []string
			Module            *struct{ Main bool }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		own := 0
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			own += bytes.Count(text, []byte("\n"))
		}
		t.Logf("%5d %s", own, p.ImportPath)
		lines, packages = lines+own, packages+1
	}
	return lines, packages
}
