package run

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Work that takes long says so: on a terminal by one line that changes from two seconds on, elsewhere by a line every
// half minute, and on one rank only.
func TestProgress(t *testing.T) {
	for _, x := range []struct {
		name         string
		on, terminal bool
		runs         int // of a second each
		want         string
	}{
		{"short, on a terminal", true, true, 1, ""},
		{"on a terminal", true, true, 3, "\r\x1b[Krun 3\r\x1b[Krun 4\r\x1b[K"},
		{"no terminal", true, false, 29, ""},
		{"long, no terminal", true, false, 61, "run 31\nrun 61\n"},
		{"another rank", false, true, 61, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var text strings.Builder
				p := progress{to: &text, on: x.on, terminal: x.terminal}
				for i := range x.runs + 1 {
					p.show("run %d", i+1)
					time.Sleep(time.Second)
				}
				p.clear()
				if text.String() != x.want {
					t.Errorf("%q, want %q", text.String(), x.want)
				}
			})
		})
	}
}
