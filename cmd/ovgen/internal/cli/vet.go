package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"ovgen/schedule"
)

var vetVerb = &verb{
	name:  "vet",
	args:  "PACKAGE",
	short: "prove schedules without generating",
	long: `vet validates, lowers and proves every schedule of PACKAGE. It prints a line for each, or
what is wrong with it: file:line:col: schedule NAME: FIELD: what is wrong (what to do),
or the counterexample. docs/proof.md says what is proven.`,
	proves: true,
	examples: []string{
		"ovgen vet -ranks 2..16 ./schedules",
		"ovgen vet -trace wrong.json ./schedules",
		"ovgen vet ./schedules",
		"ovgen vet ovgen/schedule/catalog",
	},
	least: 1, most: 1,
	run: vet,
}

func vet(c *call) error {
	pkg, inputs, err := c.lower("")
	if err != nil {
		return err
	}
	if err := c.prove(pkg, inputs); err != nil {
		return err
	}
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for i, d := range pkg.Declarations {
		p := inputs[i].Program
		s := p.Schedule
		fmt.Fprintf(table, "%s:%d\t%s\t%s\t%s\t%s\n", d.Pos.Filename, d.Pos.Line, inputs[i].Proof, s.Op, placements(s), carriers(s))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, in := range inputs {
		for _, size := range in.Proof.Sizes {
			for _, w := range size.Warnings {
				fmt.Fprintf(c.stdout, "%s: warning: %s\n", in.Program.Name, w)
			}
		}
	}
	return nil
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
