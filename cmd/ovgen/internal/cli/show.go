package cli

import (
	"fmt"
	"io"
	"strings"

	"ovgen/cmd/ovgen/internal/load"
	"ovgen/cmd/ovgen/internal/module"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/prove"
)

// catalog is where show looks for a schedule unless told otherwise.
var catalog = module.Package("schedule/catalog")

var showVerb = &verb{
	name:  "show",
	args:  "NAME [PACKAGE]",
	short: "print the host program of a schedule, or predict its time",
	long: `show prints what every rank's host issues for one run of the schedule NAME, in upper or
lower case. PACKAGE is ` + catalog + ` unless it is given. With -json it
prints the program as data: buffers, semaphores, streams, and the nodes of setup and
body, each with its type as "node", expressions and streams as text.

With -cost it predicts instead, from the operations of all ranks and a small model of
the machine, how long a run of that shape takes, how much of the communication no
product hides and what limits it, and draws the streams of one rank over time. The
time is the device's, behind work that is already queued. With -timeline it draws the
streams of all ranks as SVG.`,
	draws: true, json: true,
	examples: []string{
		"ovgen show AllGatherLinear",
		"ovgen show -hb -ranks 3 AllGatherLinear | dot -Tsvg > graph.svg",
		"ovgen show -json AllGatherLinear",
		"ovgen show -timeline t.svg AllGatherLinear -m 4096 -k 8192 -n 7168",
		"ovgen show -cost AllGatherLinear -m 4096 -k 8192 -n 7168 -ranks 4 -gpu h200",
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

// oneSize is the mesh size of something that is of one.
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
	p, err := c.named()
	if err != nil {
		return err
	}
	switch {
	case c.hb:
		return c.graph(p)
	case c.price.on || c.price.timeline != "":
		return c.cost(p)
	}
	if c.json {
		return printJSON(c.stdout, programJSON(p))
	}
	_, err = io.WriteString(c.stdout, hostir.Print(p))
	return err
}

// named is the program of the schedule that the first argument names, in the package
// of the second.
func (c *call) named() (*hostir.Program, error) {
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
		if !strings.EqualFold(d.Name, name) {
			known = append(known, d.Name)
			continue
		}
		p, err := lower.Lower(d.Name, d.Schedule)
		if err != nil {
			return nil, d.Mistake(err)
		}
		return p, nil
	}
	return nil, fmt.Errorf("%s: %s has no schedule %s (it has %s)", c.verb.name, pkg.Path, name, strings.Join(known, ", "))
}
