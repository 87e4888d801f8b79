package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each word of docs/glossary.md stands in the file that the page names, in one word or in several.
func TestGlossary(t *testing.T) {
	repo := filepath.FromSlash("../../../..")
	page, err := os.ReadFile(filepath.Join(repo, "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	joined := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, " ", "")) }
	rows := regexp.MustCompile("(?m)^\\| ([^|]+) \\| [^|]+ \\| `([^`]+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 40 {
		t.Errorf("the page has %d words", len(rows))
	}
	seen := map[string]bool{}
	for _, row := range rows {
		source, err := os.ReadFile(filepath.Join(repo, filepath.FromSlash(row[2])))
		if err != nil {
			t.Errorf("%s: %v", row[1], err)
			continue
		}
		for _, word := range strings.Split(row[1], ", ") {
			if seen[word] {
				t.Errorf("%s is explained twice", word)
			}
			if seen[word] = true; !strings.Contains(joined(string(source)), joined(word)) {
				t.Errorf("%s does not have the word %s", row[2], word)
			}
		}
	}
}
