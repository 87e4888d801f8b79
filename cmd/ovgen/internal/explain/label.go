package explain

import (
	"fmt"
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Label describes an operation of a rank in a few words, for a drawing.
func Label(p *hostir.Program, rank int, o ops.Op) string {
	switch o.Kind {
	case ops.WaitEvent:
		return "wait for a stream"
	case ops.Signal:
		return signalLabel(o)
	}
	var reads, writes []string
	for _, u := range o.Uses {
		if _, ok := p.Buffer(u.At.Buffer); !ok {
			continue
		}
		name := u.At.Buffer
		if u.At.Rank != rank {
			name += fmt.Sprintf("@%d", u.At.Rank)
		}
		if u.Write {
			writes = append(writes, name)
		} else {
			reads = append(reads, name)
		}
	}
	if o.Kind == ops.Sum && len(reads) > 1 {
		reads = []string{reads[0], "..."}
	}
	what := o.Kind.String()
	if o.Kind == ops.Collective || o.Kind == ops.Apply || o.Kind == ops.Call {
		what = o.Form
	}
	return fmt.Sprintf("%s %s into %s", what, strings.Join(reads, ", "), strings.Join(writes, ", "))
}

func signalLabel(o ops.Op) string {
	verb, name, wait := "post", "", false
	for _, w := range o.Words {
		wait = wait || !w.Write
	}
	if wait {
		verb = "wait"
	}
	for _, w := range o.Words {
		if w.Write != wait && !ops.IsStep(w.At) {
			name = w.At.Buffer
		}
	}
	return verb + " " + name
}
