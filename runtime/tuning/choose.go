package tuning

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ovgen/runtime/fabric"
	"ovgen/runtime/plan"
)

// ErrByNCCL says that a schedule by NCCL is a fall-back that the group's configuration does not ask for.
var ErrByNCCL = errors.New("it is by NCCL (set Config.FallBack to run it where no other schedule serves)")

// option is a candidate to choose, without the types of its shape and buffers.
type option struct {
	*plan.Program
	serves func() error // returns the reason why the group can't run it
	nccl   func() bool  // reports whether it uses no peer's memory
	sum    Sum
	bytes  int64 // of the tensor that it sums
}

// prefers guides a choice without measurements.
type prefers struct {
	rings bool        // NVLink joins only neighbours
	links fabric.Kind // the form of the fabric
	nccl  bool        // the group allows NCCL where nothing else serves
}

// choose finds the option for a shape; key lacks only the program.
func choose(t *Table, key Measured, options []option, by prefers) (i int, choice Choice, err error) {
	refused := make([]error, len(options))
	known := make([]bool, len(options))
	refusal := func(i int) error { // asks each option once, and only the options that are looked at
		if !known[i] {
			refused[i], known[i] = options[i].sum.Worth(key.Ranks), true
			if refused[i] == nil {
				refused[i] = options[i].serves()
			}
		}
		return refused[i]
	}
	if i, choice, err = t.measured(key, options, by, refusal); i >= 0 || err != nil {
		return max(i, 0), choice, err
	}
	for i, o := range options {
		if by.rings && o.Ring && refusal(i) == nil {
			why := unmeasured(key) + ", and NVLink joins neighbours alone"
			return i, Choice{Program: o.Name, Replayed: true, Why: why}, nil
		}
	}
	for _, i := range byShots(options, key.Ranks, by.links) {
		o := options[i]
		if refusal(i) != nil {
			continue
		}
		if o.nccl() && !by.nccl && i > 0 {
			refused[i] = ErrByNCCL
			continue
		}
		why := unmeasured(key) + o.estimated(key.Ranks, by.links)
		if refusal(0) != nil {
			why += fmt.Sprintf(", and %s does not serve: %s", options[0].Name, line(refused[0]))
		}
		if o.nccl() && i > 0 {
			why += "; NCCL does"
		}
		return i, Choice{Program: o.Name, Replayed: true, Why: why}, nil
	}
	none := &NoChoiceError{Operation: key.Operation, Shape: key.Shape, Ranks: key.Ranks}
	for i, o := range options {
		none.Refused = append(none.Refused, fmt.Errorf("%s: %w", o.Name, refused[i]))
	}
	return 0, choice, none
}

// measured finds the option that the nearest entries name for a shape, and that serves; -1: there is none.
func (t *Table) measured(key Measured, options []option, by prefers, refusal func(int) error) (int, Choice, error) {
	for _, m := range t.nearestOf(key, options) {
		key := key
		key.Operation = m.Operation
		i := slices.IndexFunc(options, func(o option) bool { return o.Name == m.Program })
		if i >= 0 && options[i].outgrown(m.Shape) != options[i].outgrown(key.Shape) {
			continue // other kernels would make its products than in that run
		}
		if i < 0 && m.same(key) {
			var names []string
			for _, o := range options {
				names = append(names, o.Name)
			}
			return -1, Choice{}, &UnknownChoiceError{key.Operation, m.Program, names}
		}
		if i >= 0 && refusal(i) == nil {
			if j := m.overtaken(options, i, by.links, key.Ranks, refusal); j >= 0 {
				why := fmt.Sprintf("%s; %s was not in that run%s", m.why(key), options[j].Name,
					options[j].estimated(key.Ranks, by.links))
				return j, Choice{Program: options[j].Name, Replayed: true, Why: why}, nil
			}
			choice := Choice{Program: m.Program, Replayed: m.Replayed, Why: m.why(key)}
			if m.same(key) { // the best tiles differ from shape to shape
				choice.Tiles = m.Tiles
			}
			return i, choice, nil
		}
	}
	return -1, Choice{}, nil
}

// overtaken finds the option that was not in the entry's run and whose sum takes, by estimate, the least time, and less
// than that of the entry's program; -1: there is none, or nothing is known of the run or of the program's sum.
func (m Measured) overtaken(options []option, own int, links fabric.Kind, ranks int, refusal func(int) error) int {
	found, least := -1, options[own].sum.Microseconds(options[own].bytes, ranks, links)
	if len(m.Beside) == 0 {
		return -1
	}
	for i, o := range options {
		us := o.sum.Microseconds(o.bytes, ranks, links)
		if us > 0 && us < least && !slices.Contains(m.Beside, o.Name) && refusal(i) == nil {
			found, least = i, us
		}
	}
	return found
}

// outgrown counts the kernels that make products of fewer rows than a shape has (fewrows.Row). Where two shapes have
// outgrown as many, the same kernel makes the products of both, or the library does.
func (o option) outgrown(shape string) (n int) {
	var rows int
	fmt.Sscanf(shape, "M %d", &rows) // as Shape.String writes rows; some shapes have none
	if o.Code == nil {
		return 0
	}
	for _, k := range o.Code.Kernels {
		if x, makes := k.Row.(interface{ MostRows() int }); makes && x.MostRows() < rows {
			n++
		}
	}
	return n
}

// nearestOf are the nearest entries of the operation, and behind them those of operations that ask less of the caller,
// which are options by their names.
func (t *Table) nearestOf(key Measured, options []option) (list []Measured) {
	for _, o := range options {
		key.Operation = o.Name
		list = append(list, t.nearest(key)...)
	}
	return list
}

// unmeasured is the text that no entry fits key.
func unmeasured(key Measured) string {
	return fmt.Sprintf("not measured on %d of %s at %s", key.Ranks, key.GPU, key.Shape)
}

// line is an error's text as one line.
func line(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
