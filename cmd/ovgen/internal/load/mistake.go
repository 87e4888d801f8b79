package load

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
)

// Mistake is one mistake in a package of schedules.
type Mistake struct {
	Pos      token.Position
	Schedule string // its name; empty where no schedule is at fault
	Field    string // its path; empty where no field is at fault
	Computed bool   // the field is not written as a literal: Pos is the place where its value comes from
	Msg      string // the mistake
	Hint     string // the remedy, for a mistake in a field
}

// Error is "file:line:col: schedule NAME: Field: message (hint)".
func (m *Mistake) Error() string {
	text := m.Msg
	if m.Field != "" {
		how := ""
		if m.Computed {
			how = " (computed)"
		}
		text = m.Field + how + ": " + text
	}
	if m.Hint != "" {
		text += " (" + m.Hint + ")"
	}
	if m.Schedule != "" {
		text = "schedule " + m.Schedule + ": " + text
	}
	if m.Pos.Filename == "" {
		return text
	}
	return m.Pos.String() + ": " + text
}

// Mistakes is a list of mistakes.
type Mistakes []*Mistake

// shown is the number of mistakes that Error prints.
const shown = 10

// Error has a line for each of the first ten mistakes by position.
func (m Mistakes) Error() string { return m.Text(shown) }

// Text has a line for each of the first mistakes by position, and the number of further mistakes.
func (m Mistakes) Text(most int) string {
	sorted := m.Sorted()
	var lines []string
	for i, e := range sorted {
		if i == most {
			lines = append(lines, fmt.Sprintf("too many errors: %d more (-e prints all)", len(sorted)-most))
			break
		}
		lines = append(lines, e.Error())
	}
	return strings.Join(lines, "\n")
}

// Sorted is a copy of the list, sorted by position.
func (m Mistakes) Sorted() Mistakes {
	sorted := slices.Clone(m)
	slices.SortStableFunc(sorted, func(a, b *Mistake) int { return comparePositions(a.Pos, b.Pos) })
	return sorted
}

// Err is nil for no mistakes.
func (m Mistakes) Err() error {
	if len(m) == 0 {
		return nil
	}
	return m
}

// Guarded returns f's error, or an error that reports f's panic: a schedule on which ovgen fails does not keep ovgen
// from the other schedules.
func Guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("ovgen fails on this schedule: %v "+
				"(this is a mistake of ovgen's, not of the schedule: please report it with the schedule)", p)
		}
	}()
	return f()
}

// Mistake makes mistakes of an error of Validate, a pass or the emitter: each *schedule.FieldError, alone or joined,
// gets the position of its field.
func (d *Declaration) Mistake(err error) Mistakes {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all Mistakes
		for _, e := range joined.Unwrap() {
			all = append(all, d.Mistake(e)...)
		}
		return all
	}
	m := &Mistake{Pos: d.Pos, Schedule: d.Name, Msg: err.Error()}
	var field *schedule.FieldError
	if errors.As(err, &field) {
		m.Pos, m.Computed = d.position(field.Path)
		m.Field, m.Msg, m.Hint = field.Path, field.Msg, field.Hint
	}
	return Mistakes{m}
}

// position is the place where the field of a path is written: the deepest part of the path that is a literal, or that
// one of package schedule's constructors makes. A schedule that is computed as a whole has the position of its
// declaration.
func (d *Declaration) position(path string) (at token.Position, computed bool) {
	found := d.pkg.lit.Find(d.value, path)
	if found.At == nil {
		return d.pkg.position(d.name), found.Computed
	}
	return d.pkg.position(found.At), found.Computed
}

func (s *source) position(n ast.Node) token.Position {
	return relative(s.dir, s.pkg.Fset.Position(n.Pos()))
}

func comparePositions(a, b token.Position) int {
	return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// relative makes a file name relative to the folder of the command, if the file is below that folder.
func relative(dir string, p token.Position) token.Position {
	if rel, err := filepath.Rel(dir, p.Filename); err == nil && filepath.IsLocal(rel) {
		p.Filename = rel
	}
	return p
}

func (c Config) relative(p token.Position) token.Position { return relative(c.Dir, p) }

var positionForm = regexp.MustCompile(`^(.+?):(\d+)(?::(\d+))?$`)

// parsePosition reads "file:line:col" or "file:line".
func parsePosition(s string) (token.Position, bool) {
	m := positionForm.FindStringSubmatch(s)
	if m == nil || m[1] == "-" {
		return token.Position{}, false
	}
	line, _ := strconv.Atoi(m[2])
	col, _ := strconv.Atoi(m[3])
	return token.Position{Filename: m[1], Line: line, Column: col}, true
}
