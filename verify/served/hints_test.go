package served

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// Hints that a test can follow: tensors to place, and ways to use.
var (
	placing = regexp.MustCompile(`(?:^|: |; )place (.+)$`)
	placed  = regexp.MustCompile(`(\w+) \[([^\]]*)\]`)
	split   = regexp.MustCompile(`^(DIDx|Stream)\((\w+)(, balanced|, uneven)?\), `)
	using   = regexp.MustCompile(`^(?:leave it out, or )?use ((?:schedule\.)?[A-Z]\w*(?:, (?:schedule\.)?[A-Z]\w*)*)`)
)

// TestHints follows each hint that places tensors or names ways: the schedule is served then. A way that is named may
// ask for more, but not be refused as a whole.
func TestHints(t *testing.T) {
	placements, ways := 0, 0
	for i := range all {
		d := &all[i]
		if d.path == "" {
			continue
		}
		_, err := d.become(t)
		for _, e := range s.FieldErrors(err) {
			if m := placing.FindStringSubmatch(e.Hint); m != nil {
				placements++
				next := *d
				next.Schedule = scheduletest.Clone(d.Schedule)
				place(next.Tensors, e.Path, m[1])
				_, err := next.become(t)
				for range next.Tensors { // scales and results may have to follow
					more := s.FieldErrors(err)
					if len(more) == 0 || !placing.MatchString(more[0].Hint) {
						break
					}
					place(next.Tensors, more[0].Path, placing.FindStringSubmatch(more[0].Hint)[1])
					_, err = next.become(t)
				}
				if err != nil {
					t.Errorf("%s, %s: %s: %s leads to %v", d.id, d.what, e.Path, e.Hint, err)
				}
			}
			var move int
			if n, _ := fmt.Sscanf(e.Path, "Moves[%d].Way", &move); n == 0 || !strings.HasSuffix(e.Path, ".Way") {
				continue
			}
			if m := using.FindStringSubmatch(e.Hint); m != nil {
				for name := range strings.SplitSeq(strings.ReplaceAll(m[1], "schedule.", ""), ", ") {
					ways++
					if err := d.moved(move, name); err != nil {
						t.Errorf("%s, %s: %s: %s: %s leads to %v", d.id, d.what, e.Path, e.Hint, name, err)
					}
				}
			}
		}
	}
	t.Logf("%d hints that place tensors and %d ways that hints name were followed", placements, ways)
}

// place gives tensors, or the one that a path names, the placements of a hint.
func place(tensors []s.Tensor, path, hint string) {
	for _, x := range placed.FindAllStringSubmatch(hint, -1) {
		i := slices.IndexFunc(tensors, func(t s.Tensor) bool { return t.Name == x[1] })
		if x[1] == "it" {
			fmt.Sscanf(path, "Tensors[%d]", &i)
		}
		tensors[i].Axes = axesOf(x[2])
	}
}

// moved is what becomes of a move by a way of that name.
func (d *declared) moved(move int, name string) error {
	next := scheduletest.Clone(d.Schedule)
	for _, w := range s.Ways() {
		if s.WayName(w) == name {
			next.Moves[move].Way = w
		}
	}
	_, err := lower.Lower("X", next)
	for _, e := range s.FieldErrors(err) {
		if strings.HasPrefix(e.Msg, "no pass does") {
			return e
		}
	}
	return nil
}

// axesOf reads the axes of a placement as it is printed: "DIDx(D), M/D, K", "4, Stream(D), M/(4*D), K".
func axesOf(text string) (axes []s.Axis) {
	var outer []s.Split
	for text != "" {
		if m := split.FindStringSubmatch(text); m != nil {
			cut := s.DIDx(s.Extent(m[2]))
			if m[1] == "Stream" {
				cut = s.Stream(s.Extent(m[2]))
			} else if m[3] != "" {
				cut = s.Balanced(s.Extent(m[2]))
				cut.Balanced = m[3] == ", balanced"
			}
			outer, text = append(outer, cut), text[len(m[0]):]
			continue
		}
		one, rest, _ := strings.Cut(text, ", ")
		extent, by, _ := strings.Cut(one, "/")
		factors, last := strings.Split(strings.Trim(by, "()"), "*"), len(axes)-1
		if last >= 0 && len(factors) == len(outer)+1 && string(axes[last].Extent) == factors[0] { // a plain split
			outer = slices.Insert(outer, 0, s.Split{Kind: s.Plain, Count: axes[last].Extent})
			axes = axes[:last]
		}
		axes, outer, text = append(axes, s.Dim(s.Extent(extent), outer...)), nil, rest
	}
	return axes
}
