package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What docs/debugging.md shows of explain and show -cost is printed so, perhaps with more lines between.
func TestDebuggingPage(t *testing.T) {
	repo := filepath.FromSlash("../../../..")
	page, err := os.ReadFile(filepath.Join(repo, "docs", "debugging.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)\n\\$ ovgen ([^\n]+)\n(.+?)\n```").FindAllStringSubmatch(string(page), -1)
	if len(shown) != 2 {
		t.Errorf("the page shows what %d commands print", len(shown))
	}
	for _, x := range shown {
		var out, wrong bytes.Buffer
		if status := Run(t.Context(), Env{Dir: repo, Vars: os.Environ()}, &out, &wrong,
			strings.Fields(x[1])...); status != 0 {
			t.Errorf("ovgen %s: %s", x[1], &wrong)
		}
		rest := strings.Split(out.String(), "\n")
		for _, line := range strings.Split(x[2], "\n") {
			i := slices.Index(rest, line)
			if i < 0 {
				t.Fatalf("ovgen %s does not print %q:\n%s", x[1], line, &out)
			}
			rest = rest[i+1:]
		}
	}
}
