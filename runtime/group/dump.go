package group

import (
	"fmt"
	"io"
	"os"
	"strings"

	"ovgen/runtime/launch"
)

// Dumps is what the plans of a group write about themselves when they are bound.
type Dumps struct {
	Host  bool // the steps of a run
	Ops   bool // the calls that enqueue it
	Plans bool // what the plan consists of
	JSON  bool // in place of text
	to    io.Writer
}

// Any reports whether anything is to be written.
func (d Dumps) Any() bool { return d.Host || d.Ops || d.Plans }

// Write writes what one Bind has to say.
func (d Dumps) Write(text []byte) error {
	if _, err := d.to.Write(text); err != nil {
		return fmt.Errorf("write what %s asks for: %w", launch.EnvDump, err)
	}
	return nil
}

// Dumps is what Config.Dump asks for.
func (g *Group) Dumps() Dumps { return g.config.dumps }

// dumps reads the words of Config.Dump.
func dumps(words string, to io.Writer) (Dumps, error) {
	d := Dumps{to: to}
	if to == nil {
		d.to = os.Stderr
	}
	if words == "" {
		return d, nil
	}
	known := map[string]*bool{"host": &d.Host, "ops": &d.Ops, "plans": &d.Plans, "json": &d.JSON}
	for word := range strings.SplitSeq(words, ",") {
		wanted := known[strings.TrimSpace(word)]
		if wanted == nil {
			return d, fmt.Errorf("%s has the word %q (host, ops, plans and json are known)", launch.EnvDump, word)
		}
		*wanted = true
	}
	if !d.Any() {
		return d, fmt.Errorf("%s is %q, and json alone asks for nothing (add host, ops or plans)", launch.EnvDump,
			words)
	}
	return d, nil
}
