package cli

import "fmt"

var diffVerb = &verb{
	name:  "diff",
	args:  "PACKAGE",
	short: "print how the packages differ from what gen would write",
	long: `diff generates in memory, prints a unified diff of each file that differs from what is
in the folder, and exits 1 if there is one. It writes nothing. Without NVRTC a PTX is
held against its head, which has the hashes of the source and of the PTX itself.`,
	examples: []string{
		"ovgen diff -o generated ./schedules",
		"ovgen diff -o generated ovgen/schedule/catalog",
	},
	emits: true, least: 1, most: 1,
	run: diff,
}

func diff(c *call) error {
	g, err := c.generate()
	if err != nil {
		return err
	}
	for _, change := range g.changes {
		if err := change.Print(c.stdout, c.output); err != nil {
			return fmt.Errorf("print a difference: %w", err)
		}
	}
	c.noteMissing(g)
	if len(g.changes) > 0 {
		fmt.Fprintf(c.stderr, "ovgen: %s is not current: run ovgen gen -o %s %s\n", c.output, c.output, c.args[0])
		return errFound
	}
	return nil
}
