package module_test

import (
	"os/exec"
	"strings"
	"testing"

	"ovgen/cmd/ovgen/internal/module"
)

func TestPath(t *testing.T) {
	out, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		t.Fatalf("go list -m: %v", err)
	}
	if want := strings.TrimSpace(string(out)); module.Path != want {
		t.Errorf("Path is %q, go.mod says %q", module.Path, want)
	}
}
