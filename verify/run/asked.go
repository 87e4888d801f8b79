package run

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/launch"
	"ovgen/schedule"
	"ovgen/verify/harness"
)

// asked is the programs, shapes and number of ranks that the command line names.
type asked struct {
	programs []harness.Program
	ranks    int
	shapes   []harness.Shape // without type; empty means the defaults
	extents  harness.Shape   // values that replace every shape's
	types    []driver.Type
	one      harness.Shape // as the flags give it
	texts    struct{ types, extents string }
}

func (a *asked) bind(f *flag.FlagSet) {
	f.IntVar(&a.ranks, "ranks", 4, "")
	f.IntVar(&a.one.M, "m", 0, "")
	f.IntVar(&a.one.K, "k", 0, "")
	f.IntVar(&a.one.N, "n", 0, "")
	f.StringVar(&a.texts.extents, "extents", "", "")
	f.StringVar(&a.texts.types, "type", "", "")
}

// count takes the number of ranks from a launcher, and refuses a number below 1.
func (a *asked) count() error {
	if p, err := launch.FindPlace(); err == nil && launch.IsRank() { // of as many ranks as were started
		a.ranks = p.Size
	}
	if a.ranks < 1 {
		return fmt.Errorf("-ranks %d: at least 1", a.ranks)
	}
	return nil
}

// chooseTypes reads "bf16,fp32".
func (a *asked) chooseTypes() error {
	for _, text := range strings.FieldsFunc(a.texts.types, func(r rune) bool { return r == ',' }) {
		t, ok := driver.ParseType(text)
		if !ok {
			return fmt.Errorf("no type %q (there are %v)", text, driver.Types())
		}
		a.types = append(a.types, t)
	}
	return nil
}

// taken refuses types that none of the programs takes.
func (a *asked) taken() error {
	takes := func(p harness.Program) bool { return len(a.typesOf(&p)) > 0 }
	if len(a.programs) > 0 && !slices.ContainsFunc(a.programs, takes) {
		return fmt.Errorf("-type %s: no program that was named takes it", a.texts.types)
	}
	return nil
}

// typesOf are the types with which to run a program.
func (a *asked) typesOf(p *harness.Program) []driver.Type {
	want := a.types
	if len(want) == 0 {
		want = p.Types
	}
	return slices.DeleteFunc(slices.Clone(want), func(t driver.Type) bool { return !slices.Contains(p.Types, t) })
}

// chooseShapes reads the shape in flags, a list "8,8,8;16,8,8", and the extents.
func (a *asked) chooseShapes(f *flag.FlagSet, list string) error {
	if a.one != (harness.Shape{}) {
		a.shapes = append(a.shapes, a.one)
	} else if given(f, "m", "k", "n") {
		return errors.New("-m, -k, -n: each is 0 (give one that is above 0, or none of them for the default shape)")
	}
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ' ' }) {
		s, err := parseShape(text)
		if err != nil {
			return err
		}
		a.shapes = append(a.shapes, s)
	}
	return a.chooseExtents(a.texts.extents)
}

// chooseExtents reads "N2=1024,F=28672".
func (a *asked) chooseExtents(list string) error {
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		name, value, _ := strings.Cut(text, "=")
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("-extents %s: %q is not NAME=NUMBER, with a positive number", list, text)
		}
		e := schedule.Extent(name)
		if !slices.Contains(harness.Symbols[3:], e) {
			return fmt.Errorf("-extents %s: %q is none of %v (m, k and n have flags of their own)", list,
				name, harness.Symbols[3:])
		}
		if !slices.ContainsFunc(a.programs, func(p harness.Program) bool { return p.Measures(e) }) {
			return fmt.Errorf("-extents %s: no program that was named has an extent %s", list, e)
		}
		*a.extents.At(e) = n
	}
	return nil
}

func parseShape(text string) (s harness.Shape, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return s, fmt.Errorf("shape %q is not m,k,n", text)
	}
	for i, to := range []*int{&s.M, &s.K, &s.N} {
		if *to, err = strconv.Atoi(parts[i]); err != nil {
			return s, fmt.Errorf("shape %q is not m,k,n: %q is no number", text, parts[i])
		}
	}
	return s, nil
}
