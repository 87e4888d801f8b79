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
	short: "check schedules without generating",
	long: `vet validates and lowers every schedule of PACKAGE. It prints a line for each, or what
is wrong with it: file:line:col: schedule NAME: FIELD: what is wrong (what to do).`,
	examples: []string{
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
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for i, d := range pkg.Declarations {
		p := inputs[i].Program
		s := p.Schedule
		fmt.Fprintf(table, "%s:%d\t%s\tok\t%s\t%s\t%s\t%d buffers, %d semaphores\n",
			d.Pos.Filename, d.Pos.Line, d.Name, s.Op, placements(s), carriers(s), len(p.Buffers), len(p.Semaphores))
	}
	return table.Flush()
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
