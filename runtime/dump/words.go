package dump

import (
	"fmt"
	"io"
	"os"
	"strings"

	"ovgen/runtime/group"
	"ovgen/runtime/launcher"
	"ovgen/runtime/plan"
)

// words are the words of group.Config.Dump.
type words struct {
	host  bool // the steps of a run
	ops   bool // the calls that enqueue it
	plans bool // the parts of the plan
	json  bool // in place of text
}

func init() {
	group.RegisterDumper(func(text string, to io.Writer) (func(group.Tracer) error, error) {
		w, err := read(text)
		if to == nil {
			to = os.Stderr
		}
		return func(t group.Tracer) error {
			p, ok := t.(*plan.Plan)
			if !ok {
				return fmt.Errorf("write about %s: it is no plan of package plan", t.Name())
			}
			return w.write(p, to)
		}, err
	})
}

// read reads words with commas between them.
func read(text string) (words, error) {
	var w words
	known := map[string]*bool{"host": &w.host, "ops": &w.ops, "plans": &w.plans, "json": &w.json}
	for word := range strings.SplitSeq(text, ",") {
		wanted := known[strings.TrimSpace(word)]
		if wanted == nil {
			return w, fmt.Errorf("%s has the word %q (host, ops, plans and json are known)", launcher.EnvDump, word)
		}
		*wanted = true
	}
	if !w.host && !w.ops && !w.plans {
		return w, fmt.Errorf("%s is %q, and json alone asks for nothing (add host, ops or plans)", launcher.EnvDump,
			text)
	}
	return w, nil
}
