package run

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/verify/harness"
)

// chooseShapes reads the shapes and checks them against the programs. Shapes not asked for
// are the defaults, which fit unless -extents changes them.
func (o *options) chooseShapes(one harness.Shape, list, extents string) error {
	if one != (harness.Shape{}) {
		o.shapes = append(o.shapes, one)
	} else if o.sized {
		return errors.New("-m, -k, -n: each is 0 (give one that is above 0, or none of them for the default shape)")
	}
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ' ' }) {
		s, err := parseShape(text)
		if err != nil {
			return err
		}
		o.shapes = append(o.shapes, s)
	}
	if err := o.chooseExtents(extents); err != nil {
		return err
	}
	if o.command.single && len(o.shapes) > 1 {
		return fmt.Errorf("%s takes one shape, not %d", o.command.name, len(o.shapes))
	}
	switch o.command.name {
	case "list", listDevices: // list prints for each program whether the shape fits
		return nil
	case "tune":
		return o.fitFamilies()
	}
	for i := range o.programs {
		if err := o.fit(&o.programs[i]); err != nil {
			return err
		}
	}
	return nil
}

// fitFamilies checks that, for each shape, one program of each operation takes it: tune
// leaves the others out.
func (o *options) fitFamilies() error {
	for _, f := range families(o.programs) {
		for _, s := range o.shapes {
			if s = s.With(o.extents); len(fitting(f, s, o.ranks)) == 0 {
				return f[0].Fits(s, o.ranks)
			}
		}
	}
	return nil
}

// fit checks that one program takes the shapes.
func (o *options) fit(p *harness.Program) error {
	shapes := o.shapes
	if o.command.name == "layers" && len(shapes) > 0 {
		shapes = o.bucketShapes(false)
	}
	if len(shapes) == 0 && o.extents != (harness.Shape{}) {
		for _, t := range p.Types {
			shapes = append(shapes, p.VerifyShapes(t, o.ranks, false)...)
		}
	}
	for _, s := range shapes {
		if err := p.Fits(s.With(o.extents), o.ranks); err != nil {
			return err
		}
	}
	return nil
}

// chooseExtents reads "N2=1024,F=28672".
func (o *options) chooseExtents(list string) error {
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
		if !slices.ContainsFunc(o.programs, func(p harness.Program) bool { return p.Measures(e) }) {
			return fmt.Errorf("-extents %s: no program that was named has an extent %s", list, e)
		}
		*o.extents.At(e) = n
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
