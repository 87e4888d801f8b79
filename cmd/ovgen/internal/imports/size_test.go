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

// mostLines bounds the Go that a program links of this module for a schedule without kernels: a feature that the
// schedule does not use should add none.
const mostLines = 15_500

// TestSize counts the lines of Go that package allgatherlinear brings, without tests.
func TestSize(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,CgoFiles,Module",
		module.Package("generated/allgatherlinear")).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	lines, packages := 0, 0
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
	if lines > mostLines || packages < 5 {
		t.Errorf("%d lines in %d packages, want at most %d: give parts that production does not need a package of "+
			"their own", lines, packages, mostLines)
	}
}
