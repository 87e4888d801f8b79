package templates

import (
	"os"
	"path/filepath"
	"testing"

	"ovgen/verify/drivertest"
)

// TestEight compares the kernels' conversions of 8 and of 4 bits, on the host, with the reference's. Package sim
// compares its own with the same, and the test of package cuda what a GPU makes.
func TestEight(t *testing.T) {
	headers, err := Headers()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "device"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range headers {
		if err := os.WriteFile(filepath.Join(dir, "device", name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "eight")
	gcc(t, program, append([]string{"-O1", filepath.Join(dir, "testdata", "eight.cc")}, ofAll...))
	text, err := run(t, program)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	drivertest.Conversions(t, []byte(text))
}
