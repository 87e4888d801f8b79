package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ovgen/cmd/ovgen/internal/imports"
	"ovgen/cmd/ovgen/internal/module"
	"ovgen/docs/examples/llama/schedules"
	"ovgen/schedule/catalog"
)

func TestProject(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module.Path+"/...")
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
	nccl(t, all)
}

// nccl: the packages of schedules that name NCCL import its library, and no other does.
func nccl(t *testing.T, all []imports.Package) {
	named := map[string]bool{}
	for _, c := range catalog.All() {
		named[module.Package("generated/"+strings.ToLower(c.Name))] = c.Schedule.UsesNCCL()
	}
	named[module.Package("docs/examples/llama/generated/decodenccl")] = schedules.DecodeNCCL.UsesNCCL()
	named[module.Package("docs/examples/llama/generated/prefillnccl")] = schedules.PrefillNCCL.UsesNCCL()
	for _, p := range all {
		if has := slices.Contains(p.Imports, module.Package("runtime/nccl")); has != named[p.Path] {
			t.Errorf("%s imports NCCL: %t, and its schedule names it: %t", p.Path, has, named[p.Path])
		}
	}
}

func TestBroken(t *testing.T) {
	own := module.Package
	for _, test := range []struct{ path, imports, want string }{
		{own("schedule"), "strings", ""},
		{own("schedule"), own("runtime/driver"), "may import the standard library only"},
		{own("schedule/lower"), own("schedule/hostir"), ""},
		{own("schedule/stages"), own("schedule"), ""},
		{own("schedule/stages"), own("schedule/hostir"), "imports " + own("schedule/hostir")},
		{own("schedule/edges"), own("schedule/stages"), "imports " + own("schedule/stages")},
		{own("runtime/plan"), own("verify/ops"), own("runtime/plan") + " imports " + own("verify/ops")},
		{own("runtime/plan"), "runtime", ""},
		{own("schedule"), own("runtime"), "imports"},
		{own("verify/sim/internal/x"), "gonum.org/v1/gonum/blas", ""},
		{own("verify/sim"), own("runtime/group"), "imports " + own("runtime/group")},
		{own("verify/sim"), own("verify/touch"), ""},
		{own("verify/sim"), own("verify/tables"), "imports " + own("verify/tables")},
		{own("verify/tables"), own("runtime/kernels"), ""},
		{own("verify/touch"), own("runtime/kernels"), "imports " + own("runtime/kernels")},
		{own("runtime/dump"), own("verify/touch"), "imports " + own("verify/touch")},
		{own("generated/host"), own("verify/tables"), ""},
		{own("generated/gatedmlp"), own("verify/tables"), "(generated may import"},
		{own("runtime/group"), own("verify/sim"), "imports " + own("verify/sim")},
		{own("runtime/group"), "gonum.org/v1/gonum/blas", "imports gonum.org"},
		{own("generated/allgathermatmul"), own("verify/harness"), "(generated may import"},
		{own("generated/allgathermatmul"), own("schedule"), "(generated may import"},
		{own("generated/run"), own("verify/harness"), ""},
		{own("verify/ops"), own("runtime/driver"), "imports " + own("runtime/driver")},
		{own("cmd/ovgen"), "github.com/dave/jennifer/jen", ""},
	} {
		got := strings.Join(imports.Broken([]imports.Package{{Path: test.path, Imports: []string{test.imports}}}), "\n")
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s imports %s: got %q, want %q", test.path, test.imports, got, test.want)
		}
	}
}
