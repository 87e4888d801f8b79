package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ovgen/cmd/ovgen/internal/load"
	"ovgen/cmd/ovgen/internal/module"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/prove"
)

// catalog is the package in which show looks for a schedule by default.
var catalog = module.Package("schedule/catalog")

var showVerb = &verb{
	name:  "show",
	args:  "NAME [PACKAGE]",
	short: "print the host program of a schedule, or predict its time",
	long: `show prints what every rank's host issues for one run of the schedule NAME, in upper or
lower case. PACKAGE is ` + catalog + ` unless it is given. With -json it
prints the program as data: buffers, semaphores, streams, and the nodes of setup and
body, each with its type as "node", expressions and streams as text.

With -passes it prints the program as the ways of its communications write it and, for
each pass of lowering after that, a sentence and the lines that change; below a program
stand its streams by priority, what New asks of the shape, and the fields of the schedule
that ask for its nodes.

With -cost it predicts instead, from the operations of all ranks and a small model of
the machine, how long a run of that shape takes, how much of the communication no
product hides and what limits it, and draws the streams of one rank over time. The
time is the device's, after work that is already queued. Below it says what device memory
a plan of that shape takes; -json prints the figures as data. With -timeline it draws the
streams of all ranks as SVG.`,
	draws: true, json: true,
	examples: []string{
		"ovgen show AllGatherLinear",
		"ovgen show -hb -ranks 3 AllGatherLinear | dot -Tsvg > graph.svg",
		"ovgen show -json AllGatherLinear",
		"ovgen show -passes AllReduceOneShot",
		"ovgen show -timeline t.svg AllGatherLinear -m 4096 -k 8192 -n 7168",
		"ovgen show -cost AllGatherLinear -m 4096 -k 8192 -n 7168 -ranks 4 -gpu h200",
		"ovgen show -cost -json AllGatherLinear -m 4096 -k 8192 -n 7168",
		"ovgen show Ring ./schedules",
	},
	least: 1, most: 2,
	run: show,
}

// graph prints the happens-before graph for one mesh size.
func (c *call) graph(p *hostir.Program) error {
	ranks, err := c.oneSize("2", "a graph")
	if err != nil {
		return err
	}
	return prove.Dot(c.stdout, p, ranks)
}

// oneSize parses -ranks where exactly one size is allowed.
func (c *call) oneSize(otherwise, what string) (int, error) {
	if c.ranks == "" {
		c.ranks = otherwise
	}
	ranks, err := parseRanks(c.ranks)
	if err != nil {
		return 0, err
	}
	if len(ranks) != 1 {
		return 0, &usageError{msg: "-ranks " + c.ranks + ": " + what + " is of one mesh size"}
	}
	return ranks[0], nil
}

func show(c *call) error {
	if err := c.together(); err != nil {
		return err
	}
	if c.stages {
		return c.passes()
	}
	d, p, err := c.named()
	if err != nil {
		return err
	}
	var trouble error
	err = load.Guarded(func() error {
		trouble = c.shown(p)
		return nil
	})
	if err != nil {
		return d.Mistake(err)
	}
	return trouble
}

// shown prints the program in the form that the flags ask for.
func (c *call) shown(p *hostir.Program) error {
	switch {
	case c.hb:
		return c.graph(p)
	case c.predicts():
		return c.cost(p)
	case c.json:
		return printJSON(c.stdout, programJSON(p))
	}
	_, err := io.WriteString(c.stdout, hostir.Print(p))
	return err
}

// predicts reports whether the flags ask for a prediction.
func (c *call) predicts() bool { return c.price.on || c.price.timeline != "" }

// together refuses flags that the chosen output does not read.
func (c *call) together() error {
	allowed, what := []string{"json"}, "the program"
	switch {
	case c.stages:
		allowed, what = []string{"passes"}, "-passes"
	case c.hb:
		allowed, what = []string{"hb", "ranks"}, "-hb"
	case c.predicts():
		allowed = []string{"cost", "timeline", "gpu", "hosts", "eager", "ranks", "m", "k", "n", "type", "extents",
			"counts"}
		what = "-cost"
		if c.price.on && c.price.timeline == "" {
			allowed = append(allowed, "json")
		} else if !c.price.on {
			what = "-timeline"
		}
	}
	for _, name := range c.set {
		if slices.Contains(allowed, name) {
			continue
		}
		msg := fmt.Sprintf("-%s does not go with %s", name, what)
		if what == "the program" {
			msg = fmt.Sprintf("-%s goes with -cost or -timeline", name)
			if name == "ranks" {
				msg = "-ranks goes with -cost, -timeline or -hb"
			}
		}
		return &usageError{c.verb, msg}
	}
	return nil
}

// named returns the schedule that the first argument names, and its program.
func (c *call) named() (*load.Declaration, *hostir.Program, error) {
	d, err := c.declared()
	if err != nil {
		return nil, nil, err
	}
	var p *hostir.Program
	err = load.Guarded(func() (err error) {
		p, err = lower.Lower(d.Name, d.Schedule)
		return err
	})
	if err != nil {
		return nil, nil, d.Mistake(err)
	}
	return d, p, nil
}

// declared returns the schedule that the first argument names, from the package that the second names.
func (c *call) declared() (*load.Declaration, error) {
	name, pattern := c.args[0], catalog
	if len(c.args) > 1 {
		pattern = c.args[1]
	}
	pkg, err := load.Load(c.ctx, load.Config{Dir: c.env.Dir, Env: c.env.Vars, Pattern: pattern})
	if err != nil {
		return nil, err
	}
	var known []string
	for _, d := range pkg.Declarations {
		if strings.EqualFold(d.Name, name) {
			return d, nil
		}
		known = append(known, d.Name)
	}
	if len(c.args) == 1 {
		return nil, fmt.Errorf("%s: the catalog has no schedule %s (name the package of yours: ovgen %s %s "+
			"./schedules; docs/schedules.md lists the catalog)",
			c.verb.name, name, c.verb.name, name)
	}
	if len(known) == 0 {
		return nil, pkg.Mistakes
	}
	return nil, fmt.Errorf("%s: %s has no schedule %s (it has %s)", c.verb.name, pkg.Path, name,
		strings.Join(known, ", "))
}
