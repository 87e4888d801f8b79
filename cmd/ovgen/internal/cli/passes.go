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

// passes prints what each pass changes in a schedule's program.
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

// behindEach is a schedule's program before the first pass, and then the changes of each pass.
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

// since is the difference from the program before the pass, or a line that says that there is none.
func (x behind) since(before behind) string {
	switch {
	case reflect.DeepEqual(x.data, before.data):
		return "nothing changes\n"
	case x.text == before.text:
		return "nothing that is printed changes\n"
	}
	var text strings.Builder
	for i, line := range strings.SplitAfter(string(lines.Diff("", []byte(before.text), "", []byte(x.text))), "\n") {
		switch {
		case i < 3: // the names of the texts
		case i > 3 && strings.HasPrefix(line, "@@"):
			text.WriteString("...\n")
		case !strings.HasPrefix(line, "@@"):
			text.WriteString(line)
		}
	}
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
