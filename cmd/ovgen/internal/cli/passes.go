package cli

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	lines "github.com/rogpeppe/go-internal/diff"

	"ovgen/cmd/ovgen/internal/load"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/passes"
)

// passes prints a schedule's program behind each pass that changes it.
func (c *call) passes() error {
	d, err := c.declared()
	if err != nil {
		return err
	}
	var text string
	err = load.Guarded(func() (err error) {
		text, err = behindEach(d.Name, d.Schedule)
		return err
	})
	if err != nil {
		return d.Mistake(err)
	}
	_, err = io.WriteString(c.stdout, text)
	return err
}

// behindEach prints a schedule's program ahead of the first pass and behind each pass, and marks the lines that the
// pass changes.
func behindEach(name string, s schedule.Schedule) (string, error) {
	var paragraphs []string
	var before behind
	_, err := lower.Behind(name, s, func(pass passes.Pass, p *hostir.Program) {
		x := behind{passText(p), programJSON(p)}
		text := x.text
		if len(paragraphs) > 0 {
			text = x.since(before)
		}
		paragraphs = append(paragraphs, fmt.Sprintf("%s: %s\n%s", pass.Name, pass.Sentence, text))
		before = x
	})
	return strings.Join(paragraphs, "\n"), err
}

// behind is a program after a pass.
type behind struct {
	text string
	data any
}

// since is the program with marks where it differs from the one before the pass, or a line that says that it does not.
func (x behind) since(before behind) string {
	switch {
	case reflect.DeepEqual(x.data, before.data):
		return "nothing changes\n"
	case x.text == before.text:
		return "nothing that is printed changes\n"
	}
	const names = 3 // of the texts: the lines before all differences
	var text strings.Builder
	rest := strings.SplitAfter(x.text, "\n") // that is not printed yet
	all := len(rest)
	unmarked := func(until int) {
		for len(rest) > until {
			text.WriteString(strings.TrimSuffix(" "+rest[0], " "))
			rest = rest[1:]
		}
	}
	marked := strings.SplitAfter(string(lines.Diff("", []byte(before.text), "", []byte(x.text))), "\n")
	for _, line := range marked[names:] {
		first := 0 // line of a difference, the lines around it among them
		if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d", new(int), new(int), &first); err == nil {
			unmarked(all - first + 1)
			continue
		}
		if text.WriteString(line); line != "" && line[0] != '-' {
			rest = rest[1:]
		}
	}
	unmarked(0)
	return text.String()
}

// passText is a program as show prints it, followed by its streams with their priorities, the requirements of New on
// the shape, and the number of nodes for each field of the schedule.
func passText(p *hostir.Program) string {
	var streams, shape, fields []string
	for _, s := range p.Streams {
		text := hostir.StreamRef{Set: s.Name, From: s.First, To: s.Count}.String()
		switch {
		case s.High:
			text += " (high)"
		case s.Falling:
			text += " (falling)"
		}
		streams = append(streams, text)
	}
	for _, d := range p.Checks {
		shape = append(shape, d.String())
	}
	asked := map[string]int{}
	count := func(n hostir.Node) { asked[n.Source().Field]++ }
	hostir.Walk(p.Setup, count)
	hostir.Walk(p.Body, count)
	delete(asked, "")
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		fields = append(fields, fmt.Sprintf("%s %d", name, asked[name]))
	}
	var text strings.Builder
	io.WriteString(&text, hostir.Print(p))
	for _, x := range []struct {
		head string
		list []string
	}{{"streams: ", streams}, {"shape:   ", shape}, {"fields:  ", fields}} {
		if len(x.list) > 0 {
			fmt.Fprintf(&text, "%s%s\n", x.head, strings.Join(x.list, ", "))
		}
	}
	return text.String()
}
