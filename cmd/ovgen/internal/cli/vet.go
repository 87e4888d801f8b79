package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

var vetVerb = &verb{
	name:  "vet",
	args:  "PACKAGE",
	short: "prove schedules without generating",
	long: `vet validates, lowers and proves every schedule of PACKAGE. It prints a line for each, or
what is wrong with it: file:line:col: schedule NAME: FIELD: what is wrong (what to do),
or the counterexample: at most ten of them, all with -e, and the good ones above them.
docs/proof.md says what is proven. A second checker explores each schedule as well, from
the fewest ranks on for which it takes moments, and the line says for which.

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
	s, err := c.proven("")
	if c.json {
		return c.vetJSON(s, err)
	}
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, x := range s.good() {
		p := x.input.Program.Schedule
		fmt.Fprintf(table, "%s:%d\t%s\t%s\t%s\t%s\n", x.Pos.Filename, x.Pos.Line, x.verdict(), p.Operation(),
			placements(p), ways(x.input.Program))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, x := range s.good() {
		for _, w := range warnings(x.input) {
			fmt.Fprintf(c.stdout, "%s: warning: %s\n", x.Name, w)
		}
	}
	return s.mistakes().Err()
}

// vetJSON prints the findings, or [] if there are none.
func (c *call) vetJSON(s *subjects, err error) error {
	if err == nil {
		err = s.mistakes().Err()
	}
	list, err := findings(err)
	if err != nil {
		return err
	}
	wrong := len(list) > 0
	if s != nil {
		for _, x := range s.good() {
			for _, w := range warnings(x.input) {
				list = append(list, finding{File: x.Pos.Filename, Line: x.Pos.Line, Column: x.Pos.Column,
					Schedule: x.Name, Message: w, Severity: severityWarning})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if err := printJSON(c.stdout, list); err != nil {
		return err
	}
	if wrong {
		return errFound
	}
	return nil
}

// warnings are the warnings of a schedule: that nothing travels in it, and the warnings of its proof for all mesh
// sizes.
func warnings(in emit.Input) []string {
	var list []string
	if len(in.Program.Edges) == 0 {
		list = append(list, "nothing travels: each rank makes its results of what it has (spread an operand, where it "+
			"should)")
	}
	for _, size := range in.Proof.Sizes {
		for _, w := range size.Warnings {
			list = append(list, w.String())
		}
	}
	return list
}

// placements are the placements of the first operation's first operand and of the results.
func placements(s schedule.Schedule) string {
	var parts []string
	for _, t := range s.Tensors {
		if t.Name == s.Ops[0].In[0] || s.Made(t.Name) {
			parts = append(parts, t.Name+" "+t.String())
		}
	}
	return strings.Join(parts, ", ")
}

// ways are "A by Pull (Parts 2), C by Slots": the ways, with the options that the schedule sets.
func ways(p *hostir.Program) string {
	var parts []string
	for _, m := range lower.Read(p) {
		text := m.Of + " by " + schedule.WayName(m.Way)
		var options []string
		for _, o := range m.Options {
			if !o.Zero {
				options = append(options, o.Field+" "+o.Value)
			}
		}
		if len(options) > 0 {
			text += " (" + strings.Join(options, ", ") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
