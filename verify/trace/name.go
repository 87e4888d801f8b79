package trace

import (
	"strings"

	"ovgen/runtime/group"
	"ovgen/verify/timeline"
)

// Name gives the spans of a run the texts of its steps: the steps that enqueue an operation
// stand in the order of the spans. If the steps don't fit, the spans keep their names.
func Name(spans []timeline.Span, steps []group.Step) {
	var texts []string
	for _, s := range steps {
		if !strings.HasPrefix(s.Text, "Synchronize") {
			texts = append(texts, s.Text)
		}
	}
	if len(texts) != len(spans) {
		return
	}
	for i := range spans {
		spans[i].Name = texts[i]
		if spans[i].Kind == timeline.Other {
			spans[i].Kind = kind(texts[i])
		}
	}
}

// kinds are the work of emitted kernels, by the name of their template.
var kinds = []struct {
	in   string
	kind timeline.Kind
}{
	{"Wait", timeline.Wait}, {"Post", timeline.Post}, {"_copy", timeline.Copy}, {"_get", timeline.Copy},
	{"_put", timeline.Copy}, {"_reduce", timeline.Sum}, {"_shot", timeline.Sum},
	{"_gather", timeline.Copy},
}

func kind(text string) timeline.Kind {
	for _, k := range kinds {
		if strings.Contains(text, k.in) {
			return k.kind
		}
	}
	return timeline.Other
}
