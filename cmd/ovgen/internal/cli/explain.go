package cli

import (
	"fmt"
	"strings"

	"ovgen/cmd/ovgen/internal/explain"
	"ovgen/cmd/ovgen/internal/load"
	"ovgen/cmd/ovgen/internal/memory"
	"ovgen/runtime/plan"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

var explainVerb = &verb{
	name:  "explain",
	args:  "NAME [PACKAGE]",
	short: "say in words what a rank does, step by step",
	long: `explain lists what one rank does in one run of the schedule NAME, in words: grouped by
stream and numbered in the order in which the host enqueues, with the bytes that move,
and for each wait which post, of which rank, it waits for. A number in brackets is that
of a step in the list of the rank that it names. A schedule over hosts is told for the fewest
of several that divide the ranks. PACKAGE is ` + catalog + `
unless it is given. A shape that is not given is ` + fmt.Sprint(rowsOfARank) + ` a rank in each extent.
Above the steps it lists each communication with its way, why that one, and the products that it is
pipelined with, or the field that is why not, and each function with what applies it; below them the device
memory that a plan takes. With -json it prints all this as data, memory in bytes.`,
	explains: true, json: true,
	examples: []string{
		"ovgen explain AllGatherLinear",
		"ovgen explain -ranks 8 -rank 3 LinearReduceScatter -m 16384 -k 8192 -n 8192",
		"ovgen explain Layer ./schedules",
	},
	least: 1, most: 2,
	run: explained,
}

// explained runs the verb explain.
func explained(c *call) error {
	d, p, err := c.named()
	if err != nil {
		return err
	}
	wrong := func(err error) error { return &usageError{c.verb, err.Error()} }
	ranks, err := c.oneSize("4", "an explanation")
	if err != nil {
		return err
	}
	if c.rank < 0 || c.rank >= ranks {
		return wrong(fmt.Errorf("-rank %d: the ranks are 0 to %d", c.rank, ranks-1))
	}
	x, err := c.shape.of(ranks)
	if err == nil {
		err = c.shape.known(p)
	}
	if err != nil {
		return wrong(err)
	}
	x = filled(x, p)
	if err := x.Fits(p); err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	var trouble error
	err = load.Guarded(func() error {
		trouble = c.explanation(p, x)
		return nil
	})
	if err != nil {
		return d.Mistake(err)
	}
	return trouble
}

// explanation prints the steps of the rank c.rank, and its memory.
func (c *call) explanation(p *hostir.Program, x ops.Case) error {
	x.Rank = c.rank
	at := x
	at.Hosts = p.FewestHosts(x.Ranks)
	told, err := explain.Explain(p, at)
	if err != nil {
		return err
	}
	needed, err := memory.Of(p, x)
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	if c.json {
		return printJSON(c.stdout, struct {
			Schedule string `json:"schedule"`
			caseJSON
			Communications []explain.Overlap   `json:"communications"`
			Functions      []hostir.FunctionBy `json:"functions"`
			*explain.Explanation
			Memory plan.Memory `json:"memory"`
		}{p.Name, jsonCase(x, p, c.shape.typ), explain.Overlaps(p), p.FunctionsBy(), told, needed})
	}
	fmt.Fprintf(c.stdout, "%s on rank %d of %d: %s\n", p.Name, c.rank, x.Ranks, equation(p))
	fmt.Fprintf(c.stdout, "%s; ranks and parts count from 0.\n", shapeText(x, p, c.shape.typ))
	fmt.Fprintln(c.stdout, "A number in brackets is a step, of the rank that is named or else of this one.")
	for _, o := range explain.Overlaps(p) {
		fmt.Fprintln(c.stdout, o)
	}
	for _, f := range p.FunctionsBy() {
		fmt.Fprintln(c.stdout, f)
	}
	if err := told.Write(c.stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "\n%s", memory.Text(needed))
	return err
}

// equation is "C = linear(A, B), A [DIDx(D), M/D, K], B [N, K], C [Stream(D), M/D, N]".
func equation(p *hostir.Program) string {
	var parts []string
	for _, o := range p.Schedule.Ops {
		parts = append(parts, o.String())
	}
	for _, t := range p.Schedule.Tensors {
		parts = append(parts, t.Name+" "+t.String())
	}
	return strings.Join(parts, ", ")
}
