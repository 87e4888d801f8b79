package nvrtc

import (
	"os"
	"path/filepath"
	"testing"

	"ovgen/templates"
)

// TestConversions compiles the kernel that converts all codes of 8 and 4 bits: for devices without instructions that
// narrow to codes, and for those with. Where OVGEN_CONVERSIONS names a folder, it writes them there, for the test of
// package cuda on a GPU.
func TestConversions(t *testing.T) {
	source, err := os.ReadFile("../../../../templates/testdata/conversions.cu")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := templates.Headers()
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string][]byte{}
	for name, text := range texts {
		headers["../device/"+name] = text
	}
	for _, arch := range []string{"80", "89"} {
		ptx, err := pinned(t).Compile("conversions.cu", source, headers,
			[]string{"--gpu-architecture=compute_" + arch, "--std=c++17"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pinnedAssembler(t).Usage(ptx); err != nil {
			t.Error(err)
		}
		if dir := os.Getenv("OVGEN_CONVERSIONS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "conversions_sm"+arch+".ptx"), ptx, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
