package emit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ovgen/verify/sampling"
)

// TestBuild compiles emitted packages in another module, with and without the
// simulator's kernels, and vets them with their tests.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C++")
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := packages(t, program(t, "Plain", matmul()), program(t, "InTurn", inTurn()), wholesale(),
		program(t, "Doc", linear()), program(t, "X", linear())) // a family beside what every package tuned has
	for name, text := range files {
		write(t, filepath.Join(dir, "made", filepath.FromSlash(name)), text)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.sum"), sums)
	write(t, filepath.Join(dir, "go.mod"), []byte("module example.com/user\n\ngo 1.26\n\nrequire ovgen "+
		"v0.0.0\n\nreplace ovgen => "+root+"\n"))
	for _, verb := range []string{"vet", "build"} {
		if verb == "vet" && !sampling.Takes(4, 8) { // with make test's own, which has looked at the imports
			continue
		}
		cmd := exec.Command("go", verb, "./...")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOPROXY=off", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", verb, err, out)
		}
	}
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
