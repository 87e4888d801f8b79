package lower_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// The host program of each schedule of the catalog is the one in its package's doc.go, line by line.
func TestPrograms(t *testing.T) {
	for _, n := range catalog.All() {
		t.Run(n.Name, func(t *testing.T) {
			p, err := lower.Lower(n.Name, n.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.ToLower(n.Name)
			doc, err := os.ReadFile(filepath.Join("../../generated", name, "doc.go"))
			if err != nil {
				t.Fatalf("%v (make generate)", err)
			}
			if diff := cmp.Diff(documented(string(doc)), unfolded(hostir.Print(p))); diff != "" {
				t.Errorf("the host program is not that of generated/%s/doc.go: run make generate and read the "+
					"difference (-doc.go +lowered):\n%s", name, diff)
			}
		})
	}
}

// documented is the host program of a doc.go: the preformatted paragraph below the line that announces it.
func documented(doc string) []string {
	_, text, _ := strings.Cut(doc, "D the number of ranks:\n//\n")
	text, _, _ = strings.Cut(text, "\n//\n")
	return unfolded(strings.ReplaceAll(strings.TrimPrefix(text, "//\t"), "\n//\t", "\n"))
}

// unfolded are the lines of a program, each with its indentation and single blanks, and with what has a line of its own
// in doc.go: a remark, or the rest, which stands further to the right than the body of a loop.
func unfolded(text string) (lines []string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		words, indent := strings.Join(strings.Fields(line), " "), len(line)-len(strings.TrimLeft(line, " "))
		if n := len(lines) - 1; n >= 0 {
			above := len(lines[n]) - len(strings.TrimLeft(lines[n], " "))
			if strings.HasPrefix(words, "#") || indent >= above+4 {
				lines[n] += " " + words
				continue
			}
		}
		lines = append(lines, line[:indent]+words)
	}
	return lines
}

// Falling is the default where partial results leave from streams of their own, and the
// first of them is forked before the others.
func TestPriorities(t *testing.T) {
	for _, test := range []struct {
		name    string
		way     schedule.Way
		falling bool
		forks   int // of the compute streams
	}{
		{"default", nil, true, 2},
		{"equal", schedule.Slots{Equal: true}, false, 1},
		{"in turn", schedule.Slots{Streams: 2}, false, 1},
	} {
		p, err := lower.Lower("X", scheduletest.By(catalog.LinearReduceScatter, "C", test.way))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		forks := 0
		for _, n := range p.Body {
			if f, ok := n.(hostir.Synchronize); ok && f.On[0].Set == "main" {
				for _, on := range f.Streams {
					if on.Set == "work" {
						forks++
					}
				}
			}
		}
		i := slices.IndexFunc(p.Streams, func(s hostir.StreamSet) bool { return s.Name == "work" })
		if got := p.Streams[i].Falling; got != test.falling || forks != test.forks {
			t.Errorf("%s: falling %v in %d forks, want %v in %d", test.name, got, forks, test.falling, test.forks)
		}
	}
}

// An option that reductions can't read is refused with its field.
func TestReductionsRefused(t *testing.T) {
	by := func(w schedule.Way) func(*schedule.Schedule) {
		return func(s *schedule.Schedule) { *s = scheduletest.By(*s, "C", w) }
	}
	tests := []struct {
		name, path string
		change     func(*schedule.Schedule)
	}{
		{"slots of an all-reduce", "Moves[0].Way.Parts", by(schedule.Slots{Parts: 2})},
		{"a way of a gather", "Moves[0].Way", by(schedule.Broadcast{})},
		{"two shots", "Moves[0].Way", by(schedule.TwoShot{})},
		{"equal priority of streams in turn", "Moves[0].Way.Equal", by(schedule.Slots{Equal: true, Streams: 2})},
		{"a kernel for a step of a ring", "Moves[0].Way.Signals", by(schedule.RingSum{Signals: schedule.OneKernel})},
		{"a kernel for a step of staging", "Moves[0].Way.By", by(schedule.Staged{By: schedule.OneKernel})},
		{"another tensor", "Moves[0].Of", func(s *schedule.Schedule) {
			*s = scheduletest.By(*s, "B", schedule.Slots{})
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := catalog.LinearReduceScatter
			test.change(&s)
			_, err := lower.Lower("X", s)
			errs := schedule.FieldErrors(err)
			if len(errs) != 1 || errs[0].Path != test.path {
				t.Errorf("got %v, want one error at %s", err, test.path)
			}
		})
	}
}

// Of the caller's buffers, runs write every result and nothing else.
func TestWritten(t *testing.T) {
	for _, n := range catalog.All() {
		p, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		written := p.Written()
		for _, b := range p.Buffers {
			made := n.Schedule.Made(b.Name) || n.Schedule.Made(b.Inner.Tensor.Name)
			if b.Owner == hostir.Caller && written[b.Name] != made {
				t.Errorf("%s: runs write %s: %v", n.Name, b.Name, written[b.Name])
			}
		}
	}
}
