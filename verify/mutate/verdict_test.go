package mutate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestVerdict: what the tests of kernels say of a mistake is a verdict, and what else keeps them from passing is none.
func TestVerdict(t *testing.T) {
	for text, want := range map[string]Class{
		"ranks_test.go:23: the kernels do wrong:\nrank 0":                             Caught,
		"eight_test.go:36: device code does wrong: of f_up(0) it makes [0], want [1]": Caught,
		"run: signal: segmentation fault":                                             Caught,
		"run: signal: killed\nrank 0":                                                 "",
		"compile: exit status 1\nno such header":                                      "",
		"eight_test.go:16: open testdata: no":                                         "",
	} {
		out := "=== RUN   TestIt\n    " + text + "\n--- FAIL: TestIt (0.01s)\nFAIL\n"
		if got, why := verdict([]byte(out), false); got != want {
			t.Errorf("%q: %q, %s; want %q", text, got, why, want)
		}
	}
	if got, _ := verdict([]byte("--- PASS: TestIt (0.01s)\nPASS\n"), true); got != Survivor {
		t.Errorf("a test that passes: %q", got)
	}
}

// TestVerdictsOfTests: each text by which the tests of kernels, or what they call, say that device code is wrong is one
// that verdict knows.
func TestVerdictsOfTests(t *testing.T) {
	said := regexp.MustCompile(`\.(?:Error|Fatal)f?\("([^"]*\bwrong\b[^"]*)"`)
	seen := 0
	for _, pattern := range []string{"../../templates/*_test.go", "../drivertest/conversions.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range said.FindAllSubmatch(text, -1) {
				seen++
				if got, _ := verdict([]byte(strings.ReplaceAll(string(m[1]), `\n`, "\n")), false); got != Caught {
					t.Errorf("%s: %q is no verdict", file, m[1])
				}
			}
		}
	}
	if seen < 8 {
		t.Errorf("%d texts were found", seen)
	}
}
