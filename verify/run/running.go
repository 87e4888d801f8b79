package run

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/launch"
	"ovgen/runtime/plan"
	"ovgen/verify/harness"
)

// running is a command whose ranks run programs.
type running struct {
	asked
	joining
	name             string               // of the command
	arguments        [][]*harness.Program // the programs of each name on the command line
	list             string               // of shapes
	driver, cache    string
	timeout          time.Duration
	timed            bool // -timeout was given
	long, oneProcess bool
	// typed: a program runs in one type, the first if none is asked for. shaped has the shapes of a program where they
	// differ from the shapes of verify.
	typed  bool
	shaped func(p *harness.Program, onGPU bool) []harness.Shape
	// together are the programs whose plans are there at the same time, each as often as it has a plan.
	together [][]*harness.Program
}

func (o *running) bind(f *flag.FlagSet) {
	o.asked.bind(f)
	o.hosts = 1
	f.StringVar(&o.list, "shapes", "", "")
	f.StringVar(&o.driver, "driver", "", "")
	f.StringVar(&o.cache, "cache", "", "")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "")
	f.BoolVar(&o.oneProcess, "oneprocess", false, "")
	f.BoolVar(&o.long, "long", false, "")
}

// settle takes the flags that all commands with ranks have. own is the error of the command's further flags.
func (o *running) settle(f *flag.FlagSet, names []string, programs []harness.Program, own error) error {
	counted := o.count()
	if o.timed = given(f, "timeout"); o.long && !o.timed {
		o.timeout = time.Hour
	}
	if err := errors.Join(o.choose(names, programs), counted, o.check(), own); err != nil {
		return err
	}
	for _, p := range o.programs {
		if len(p.Ranks) > 0 && !slices.Contains(p.Ranks, o.ranks) { // as its New would say
			return &plan.RanksError{Program: p.Name, Proven: p.Ranks, Size: o.ranks}
		}
		if o.hosts > 1 && !p.Schedule.OverHosts() {
			return &plan.HostsError{Program: p.Name, Hosts: o.hosts}
		}
	}
	return errors.Join(o.chooseTypes(), o.chooseShapes(f, o.list))
}

// choose takes the programs with these names.
func (o *running) choose(names []string, programs []harness.Program) error {
	var known []string
	for _, p := range programs {
		known = append(known, p.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("%s what? (all, %s)", o.name, strings.Join(known, ", "))
	}
	for _, argument := range names {
		if argument == "all" {
			for i := range programs {
				if o.hosts > 1 && !programs[i].Schedule.OverHosts() {
					continue
				}
				o.arguments = append(o.arguments, []*harness.Program{&programs[i]})
			}
			continue
		}
		var group []*harness.Program
		for _, n := range strings.Split(argument, ",") {
			i := slices.Index(known, n)
			if i < 0 {
				return fmt.Errorf("no program %q (all, %s)", n, strings.Join(known, ", "))
			}
			group = append(group, &programs[i])
		}
		o.arguments = append(o.arguments, group)
	}
	for _, group := range o.arguments {
		for _, p := range group {
			o.programs = append(o.programs, *p)
		}
	}
	return nil
}

func (o *running) check() error {
	switch {
	case o.hosts < 1 || o.ranks%o.hosts != 0:
		return fmt.Errorf("-hosts %d: it must divide the %d ranks", o.hosts, o.ranks)
	case o.network < 0 || o.network > 0 && o.hosts == 1:
		return fmt.Errorf("-network %g: it takes -hosts of at least 2, and a rate", o.network)
	case o.oneProcess && launch.IsRank():
		return errors.New("-oneprocess starts all ranks itself, but a launcher has started this one")
	case o.timeout <= 0:
		return fmt.Errorf("-timeout %v: must be positive", o.timeout)
	}
	return checkDriver(o.driver)
}

func checkDriver(name string) error {
	if !slices.Contains([]string{"", "auto", "cuda", "sim"}, name) {
		return fmt.Errorf("no driver %q (auto, cuda or sim)", name)
	}
	return nil
}

// single refuses several shapes.
func (o *running) single() error {
	if len(o.shapes) > 1 {
		return fmt.Errorf("%s takes one shape, not %d", o.name, len(o.shapes))
	}
	return nil
}

// fit checks that each program takes the shapes. Without shapes, it checks the program's default shapes if -extents
// changes them.
func (o *running) fit(shapes []harness.Shape) error {
	for i := range o.programs {
		p, list := &o.programs[i], shapes
		if len(list) == 0 && o.extents != (harness.Shape{}) {
			for _, t := range p.Types {
				list = append(list, p.VerifyShapes(t, o.ranks, false)...)
			}
		}
		for _, s := range list {
			if err := p.Fits(s.With(o.extents), o.ranks); err != nil {
				return err
			}
		}
	}
	return nil
}

// typesOf are the types with which to run a program.
func (o *running) typesOf(p *harness.Program) []driver.Type {
	if len(o.types) == 0 && o.typed {
		return p.Types[:1]
	}
	return o.asked.typesOf(p)
}
