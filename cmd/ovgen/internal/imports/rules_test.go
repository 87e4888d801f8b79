package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"ovgen/cmd/ovgen/internal/imports"
)

func TestProject(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "ovgen/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []imports.Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, imports.Package{Path: p.ImportPath, Imports: p.Imports})
	}
	if len(all) < 20 {
		t.Fatalf("go list named %d packages", len(all))
	}
	for _, broken := range imports.Broken(all) {
		t.Error(broken)
	}
}

func TestBroken(t *testing.T) {
	for _, test := range []struct{ path, imports, want string }{
		{"ovgen/schedule", "strings", ""},
		{"ovgen/schedule", "ovgen/runtime/driver", "may import the standard library only"},
		{"ovgen/schedule/lower", "ovgen/schedule/hostir", ""},
		{"ovgen/runtime/plan", "ovgen/verify/ops", "ovgen/runtime/plan imports ovgen/verify/ops"},
		{"ovgen/runtime/driver/sim/internal/x", "gonum.org/v1/gonum/blas", ""},
		{"ovgen/runtime/group", "gonum.org/v1/gonum/blas", "imports gonum.org"},
		{"ovgen/generated/allgathermatmul", "ovgen/verify/harness", "ovgen/generated may import"},
		{"ovgen/generated/run", "ovgen/verify/harness", ""},
		{"ovgen/verify/ops", "ovgen/runtime/driver", "imports ovgen/runtime/driver"},
		{"ovgen/cmd/ovgen", "github.com/dave/jennifer/jen", ""},
	} {
		got := strings.Join(imports.Broken([]imports.Package{{Path: test.path, Imports: []string{test.imports}}}), "\n")
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s imports %s: got %q, want %q", test.path, test.imports, got, test.want)
		}
	}
}
