package mutate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// PackageMutant is an emitted package with one mistake in its Go.
type PackageMutant struct {
	Package, File string // "allgatherlinear", "program.go"
	Text          string // the change
	Edits         []Edit
	// Right says why the change is no mistake; empty where it is a mistake.
	Right string
}

// Edit replaces a text that occurs once in the file.
type Edit struct{ Old, New string }

// Name is the mutant in one line.
func (m PackageMutant) Name() string { return m.Package + "/" + m.File + ": " + m.Text }

// recorderTest is the test of a package that has to catch its mutants.
const recorderTest = "TestRecorded"

// JudgePackage runs the recorder's test of an emitted package, which lies in the folder dir, with the mutant in place
// of its file.
func JudgePackage(ctx context.Context, dir string, m PackageMutant) (Class, string, error) {
	text, err := m.Apply(dir)
	if err != nil {
		return "", "", err
	}
	dir = filepath.Join(dir, m.Package)
	out, _, err := overlaid(ctx, dir, "^"+recorderTest+"$", filepath.Join(dir, m.File), text)
	if err != nil {
		return "", "", fmt.Errorf("mutate %s: %w", m.Name(), err)
	}
	class, why := recorded(string(out))
	if class == "" {
		return "", "", fmt.Errorf("mutate %s: %s did not run:\n%s", m.Name(), recorderTest, out)
	}
	class, why = against(m.Right, class, why)
	return class, why, nil
}

// Apply is the file with the mistake.
func (m PackageMutant) Apply(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, m.Package, m.File))
	if err != nil {
		return nil, fmt.Errorf("mutate %s: %w", m.Name(), err)
	}
	for _, e := range m.Edits {
		if n := bytes.Count(text, []byte(e.Old)); n != 1 {
			return nil, fmt.Errorf("mutate %s: %q stands %d times in the file, want once", m.Name(), e.Old, n)
		}
		text = bytes.Replace(text, []byte(e.Old), []byte(e.New), 1)
	}
	return text, nil
}

// recorded reads the output of the recorder's test; the class is empty where the test did not run.
func recorded(out string) (Class, string) {
	switch {
	case strings.Contains(out, "--- PASS: "+recorderTest+" "):
		return Survivor, "the recorder sees nothing"
	case !strings.Contains(out, "--- FAIL: "+recorderTest+" "):
		return "", ""
	}
	_, why, _ := strings.Cut(out, "test.go:")
	lines := strings.SplitN(why, "\n", 3)
	why = strings.TrimSpace(strings.Join(lines[:min(len(lines), 2)], " "))
	_, why, _ = strings.Cut(why, ": ")
	return Caught, strings.Join(strings.Fields(why), " ")
}
