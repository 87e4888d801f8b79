package lower

import (
	"fmt"
	"slices"
	"strings"
)

// Way is one family of programs that there is for a communication.
type Way struct {
	Communication string
	Kind, Order   string
	// Choices that its programs read, with the values that they take where those are names:
	// "Steps separate, fused". Others are the defaults.
	Choices []string
}

// Ways lists all that package lower writes, in the order in which it tries them.
func Ways() []Way {
	var list []Way
	for _, e := range pipelines {
		w := Way{Communication: string(e.moves), Kind: string(e.kind), Order: string(e.order)}
		for _, c := range choices {
			name := c.path[strings.IndexByte(c.path, '.')+1:]
			values, any := c.reads(e.reads)
			values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
			switch {
			case any:
				w.Choices = append(w.Choices, name)
			case len(values) > 0:
				w.Choices = append(w.Choices, fmt.Sprintf("%s %s", name, strings.Join(values, ", ")))
			}
		}
		list = append(list, w)
	}
	return list
}
