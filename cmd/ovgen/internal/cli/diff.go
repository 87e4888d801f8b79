package cli

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"ovgen/cmd/ovgen/internal/emit"
)

var diffVerb = &verb{
	name:  "diff",
	args:  "PACKAGE",
	short: "print how the packages differ from gen's output",
	long: `diff generates in memory, prints a unified diff of each file that differs from what is
in the folder, and exits 1 if there is one. It writes nothing. All PTX is compiled again, or
with -again that of some packages; without NVRTC it is held against its head, which has the
hashes of the source and of the PTX itself.`,
	examples: []string{
		"ovgen diff -o generated ./schedules",
		"ovgen diff -o generated " + catalog,
	},
	emits: true, compares: true, least: 1, most: 1,
	run: diff,
}

func diff(c *call) error {
	named := strings.FieldsFunc(c.again, func(r rune) bool { return r == ',' })
	g, err := c.generate(func(name string) bool {
		at := slices.Index(named, name)
		if at >= 0 {
			named = slices.Delete(named, at, at+1)
		}
		return at >= 0 || c.again == ""
	})
	if err == nil && len(named) > 0 {
		err = &usageError{c.verb, fmt.Sprintf("-again %s: no package of that name has device code", named[0])}
	}
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
		if other := g.otherRanks(); other != "" {
			fmt.Fprintln(c.stderr, "ovgen: "+other)
		}
		fmt.Fprintf(c.stderr, "ovgen: %s is not current: run ovgen gen -o %s %s\n", c.output, c.output, c.args[0])
		return errFound
	}
	return nil
}

// ranksLine is the line of a generated program.go with the mesh sizes that the program is proven for.
var ranksLine = regexp.MustCompile(`(?m)^\s*Ranks:\s*\[\]int\{([0-9, ]*)\},$`)

// otherRanks says that the packages were generated for other mesh sizes than these, which alone makes them differ; it
// is empty where the mesh sizes are equal.
func (g *generation) otherRanks() string {
	for _, in := range g.inputs {
		file := path.Join(emit.PackageName(in.Program.Name), "program.go")
		for _, change := range g.changes {
			if change.Name != file {
				continue
			}
			was, now := ranksLine.FindSubmatch(change.Old), ranksLine.FindSubmatch(change.New)
			if was != nil && now != nil && string(was[1]) != string(now[1]) {
				sizes := func(m [][]byte) string { return strings.ReplaceAll(string(m[1]), " ", "") }
				return fmt.Sprintf("%s was generated for -ranks %s, and this is for %s: give diff and gen the "+
					"same -ranks", file, sizes(was), sizes(now))
			}
		}
	}
	return ""
}
