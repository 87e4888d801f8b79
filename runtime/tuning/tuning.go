package tuning

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Table holds the measurements of `run tune`: the fastest schedule of an operation for a shape on a machine.
type Table struct {
	Version int        `json:"version"`
	Entries []Measured `json:"entries"`
}

// version is the version of the file.
const version = 1

// Measured is the fastest schedule for one shape.
type Measured struct {
	Operation    string  `json:"operation"` // package of the schedule that names the operation
	GPU          string  `json:"gpu"`       // name of the device
	Ranks        int     `json:"ranks"`
	Shape        string  `json:"shape"`           // as Shape.String writes it
	Program      string  `json:"program"`         // package of the schedule to use
	Tiles        string  `json:"tiles,omitempty"` // kernel of its products by tiles; empty: by their estimate
	Replayed     bool    `json:"replayed"`
	Milliseconds float64 `json:"ms"` // of the slowest rank, median of the rounds
	// Beside are the other programs of the same run; none: the entry decides over all.
	Beside []string `json:"beside,omitempty"`
}

// Read reads a file that Write has written. A file that does not exist is an fs.ErrNotExist.
func Read(name string) (*Table, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read tuning: %w", err)
	}
	t, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read tuning %s: %w", name, err)
	}
	return t, nil
}

// Parse reads the text of a tuning file.
func Parse(text []byte) (*Table, error) {
	t := &Table{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("%w (make it again with run tune)", err)
	}
	if d.More() {
		return nil, errors.New("text after the table (make it again with run tune)")
	}
	if t.Version != version {
		return nil, fmt.Errorf("version %d, and this program reads %d (make it again with run tune)",
			t.Version, version)
	}
	for i, m := range t.Entries {
		if m.Operation == "" || m.GPU == "" || m.Shape == "" || m.Program == "" || m.Ranks < 1 || m.Milliseconds <= 0 {
			return nil, fmt.Errorf("entries[%d]: operation, gpu, shape, program, ranks and ms are all needed "+
				"(make it again with run tune)", i)
		}
	}
	return t, nil
}

// Write writes the file, or leaves it as it was.
func (t *Table) Write(name string) error {
	t.Version = version
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return fmt.Errorf("write tuning: %w", err)
	}
	fresh := name + ".new"
	if err := os.WriteFile(fresh, append(text, '\n'), 0o666); err != nil {
		return fmt.Errorf("write tuning: %w", err)
	}
	if err := os.Rename(fresh, name); err != nil {
		return fmt.Errorf("write tuning: %w", errors.Join(err, os.Remove(fresh)))
	}
	return nil
}

// same reports whether both entries are for one operation, machine and shape.
func (m Measured) same(o Measured) bool {
	return m.Operation == o.Operation && m.GPU == o.GPU && m.Ranks == o.Ranks && m.Shape == o.Shape
}

// Put adds an entry, and replaces the entry for the same operation, machine and shape.
func (t *Table) Put(m Measured) {
	t.Entries = slices.DeleteFunc(t.Entries, m.same)
	t.Entries = append(t.Entries, m)
}

// Choice is the schedule that a tuned operation runs, and the reason.
type Choice struct {
	Program  string // package of the schedule
	Tiles    string // kernel of its products by tiles; empty where it has no tiles, or an estimate chooses
	Replayed bool   // whether Replay was faster than Enqueue
	Why      string
}

// String is "allgatherlinearkernels: measured on NVIDIA H200, 0.052 ms", or "allgatherlineartiles by tiles3: ...".
func (c Choice) String() string {
	if c.Tiles != "" {
		return fmt.Sprintf("%s by %s: %s", c.Program, c.Tiles, c.Why)
	}
	return c.Program + ": " + c.Why
}

// nearest returns the entries of key's operation on its machine, for shapes with the same extents and type, the nearest
// shape first.
func (t *Table) nearest(key Measured) []Measured {
	if t == nil {
		return nil
	}
	type entry struct {
		Measured
		far float64
	}
	var list []entry
	for _, m := range t.Entries {
		if m.Operation != key.Operation || m.GPU != key.GPU || m.Ranks != key.Ranks {
			continue
		}
		if far, ok := distance(m.Shape, key.Shape); ok {
			list = append(list, entry{m, far})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.far, b.far) })
	found := make([]Measured, len(list))
	for i, e := range list {
		found[i] = e.Measured
	}
	return found
}

// distance is the distance between two shapes, as Shape.String writes them: the sum over the extents of how often the
// extent doubles from one shape to the other. Shapes with other extents or of another type have no distance.
func distance(a, b string) (far float64, ok bool) {
	x, y := strings.Split(a, ", "), strings.Split(b, ", ")
	if len(x) != len(y) {
		return 0, false
	}
	for i := range x {
		name, value, isExtent := strings.Cut(x[i], " ")
		other, otherValue, _ := strings.Cut(y[i], " ")
		if name != other {
			return 0, false
		}
		if !isExtent || name == "epsilon" {
			continue // the type, or a number on which no time depends
		}
		m, err := strconv.Atoi(value)
		n, wrong := strconv.Atoi(otherValue)
		if err != nil || wrong != nil || m < 1 || n < 1 {
			return 0, a == b
		}
		far += math.Abs(math.Log2(float64(m) / float64(n)))
	}
	return far, true
}

// why is the reason why the entry was chosen for key.
func (m Measured) why(key Measured) string {
	if m.same(key) {
		return fmt.Sprintf("measured on %d of %s, %.4g ms", m.Ranks, m.GPU, m.Milliseconds)
	}
	return fmt.Sprintf("measured on %d of %s at %s, %.4g ms, the nearest to %s that takes it",
		m.Ranks, m.GPU, m.Shape, m.Milliseconds, key.Shape)
}

// NoChoiceError says that no schedule of an operation serves a shape on a group.
type NoChoiceError struct {
	Operation, Shape string
	Ranks            int
	Refused          []error // an error for each schedule, with its name
}

// Error lists the refusal of each schedule.
func (e *NoChoiceError) Error() string {
	list := make([]string, len(e.Refused))
	for i, err := range e.Refused {
		list[i] = line(err)
	}
	return fmt.Sprintf("choose a schedule for %s at %s on %d ranks: none serves: %s",
		e.Operation, e.Shape, e.Ranks, strings.Join(list, ", "))
}

// Unwrap returns the refusal of each schedule.
func (e *NoChoiceError) Unwrap() []error { return e.Refused }

// UnknownChoiceError says that a table names a schedule that the operation does not have.
type UnknownChoiceError struct {
	Operation, Program string
	Known              []string
}

// Error names the unknown schedule and the remedy.
func (e *UnknownChoiceError) Error() string {
	return fmt.Sprintf("choose a schedule for %s: no schedule %q among %q (tune again with this binary)",
		e.Operation, e.Program, e.Known)
}
