package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// The help is one screen, and every verb has its own with examples that it can parse.
func TestHelp(t *testing.T) {
	var b bytes.Buffer
	help(&b)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines, want at most 24:\n%s", len(lines), &b)
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > 80 {
			t.Errorf("%d columns, want at most 80: %s", utf8.RuneCountInString(l), l)
		}
	}
	for _, v := range verbs {
		if !strings.Contains(b.String(), "\n  "+v.name+" ") {
			t.Errorf("it lacks %s", v.name)
		}
		if len(v.examples) < 2 {
			t.Errorf("%s has %d examples, want 2 or more", v.name, len(v.examples))
		}
		for _, e := range v.examples {
			e, _, _ = strings.Cut(e, " | ")
			words := strings.Fields(e)
			if words[0] != "ovgen" {
				continue
			}
			c := &call{verb: v}
			if words[1] != v.name {
				t.Errorf("%s has an example of another verb: %s", v.name, e)
			} else if err := c.parse(v, words[2:]); err != nil {
				t.Errorf("%s: %v", e, err)
			}
		}
	}
}
