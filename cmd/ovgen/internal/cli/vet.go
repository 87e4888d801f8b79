package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/cmd/ovgen/internal/load"
	"ovgen/schedule"
)

var vetVerb = &verb{
	name:  "vet",
	args:  "PACKAGE",
	short: "prove schedules without generating",
	long: `vet validates, lowers and proves every schedule of PACKAGE. It prints a line for each, or
what is wrong with it: file:line:col: schedule NAME: FIELD: what is wrong (what to do),
or the counterexample. docs/proof.md says what is proven.

With -json it prints a list of findings instead, by position; each has file, line,
column, schedule, field, computed, message, hint and severity (error or warning).
The mistakes that are plain in the source, ovgen finds as a tool of go vet too.`,
	proves: true, json: true,
	examples: []string{
		"ovgen vet ./schedules",
		"ovgen vet -ranks 2..16 ./schedules",
		"ovgen vet -trace wrong.json ./schedules",
		"ovgen vet -json ./schedules",
		"go vet -vettool=$(which ovgen) ./...",
		"ovgen vet " + catalog,
	},
	least: 1, most: 1,
	run: vet,
}

func vet(c *call) error {
	pkg, inputs, err := c.lower("")
	if err == nil {
		err = c.prove(pkg, inputs)
	}
	if c.json {
		return c.vetJSON(pkg, inputs, err)
	}
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for i, d := range pkg.Declarations {
		s := inputs[i].Program.Schedule
		fmt.Fprintf(table, "%s:%d\t%s\t%s\t%s\t%s\n", d.Pos.Filename, d.Pos.Line, inputs[i].Proof, s.Op, placements(s), carriers(s))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, in := range inputs {
		for _, w := range warnings(in) {
			fmt.Fprintf(c.stdout, "%s: warning: %s\n", in.Program.Name, w)
		}
	}
	return nil
}

// vetJSON prints what was found, [] where nothing was.
func (c *call) vetJSON(pkg *load.Package, inputs []emit.Input, err error) error {
	list, err := findings(err)
	if err != nil {
		return err
	}
	wrong := len(list) > 0
	for i := 0; i < len(inputs) && !wrong; i++ {
		d := pkg.Declarations[i]
		for _, w := range warnings(inputs[i]) {
			list = append(list, finding{File: d.Pos.Filename, Line: d.Pos.Line, Column: d.Pos.Column, Schedule: d.Name, Message: w, Severity: severityWarning})
		}
	}
	if err := printJSON(c.stdout, list); err != nil {
		return err
	}
	if wrong {
		return errFound
	}
	return nil
}

// warnings of a proof, of every size of the mesh.
func warnings(in emit.Input) []string {
	var list []string
	for _, size := range in.Proof.Sizes {
		for _, w := range size.Warnings {
			list = append(list, w.String())
		}
	}
	return list
}

func placements(s schedule.Schedule) string {
	var parts []string
	for _, t := range s.Tensors {
		if t.Name == "A" || t.Name == "C" {
			parts = append(parts, t.Name+" "+t.String())
		}
	}
	return strings.Join(parts, ", ")
}

func carriers(s schedule.Schedule) string {
	return fmt.Sprintf("%s + %s", s.Transport.Copy, s.Transport.Signal)
}
