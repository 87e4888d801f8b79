package trace

import (
	"strings"

	"ovgen/runtime/group"
	"ovgen/runtime/kernels"
	"ovgen/verify/timeline"
)

// Name gives the spans of a run the texts of the run's steps: the steps that enqueue an operation are in the order of
// the spans. If the numbers differ, the spans keep their names.
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

// kinds gives each kernel's work the kind of its span.
var kinds = map[kernels.Work]timeline.Kind{kernels.Copies: timeline.Copy, kernels.Gathers: timeline.Copy,
	kernels.Sums: timeline.Sum, kernels.Applies: timeline.Sum, kernels.Lands: timeline.Sum,
	kernels.LandsApart: timeline.Copy, kernels.LandsTwice: timeline.Sum, kernels.LandsRows: timeline.Copy,
	kernels.Multiplies: timeline.Product, kernels.Scatters: timeline.Product}

// kind is the kind of a step of an emitted kernel. The text is "Wait ready[1]" or "Post ready[1]" for a kernel that
// only signals, "LaunchKernel reduce2_bf16" for a kernel that does not signal, and "shot, Post ready[1], Wait ready[1]"
// for a kernel that does both.
func kind(text string) timeline.Kind {
	switch first, _, _ := strings.Cut(text, " "); first {
	case "Wait":
		return timeline.Wait
	case "Post":
		return timeline.Post
	}
	name := strings.TrimPrefix(text, "LaunchKernel ")
	if end := strings.IndexAny(name, "_,"); end >= 0 {
		name = name[:end]
	}
	for _, k := range kernels.Kinds() { // reduce2 is another kernel of the kind reduce
		if number, ok := strings.CutPrefix(name, string(k)); ok && strings.Trim(number, "0123456789") == "" {
			if work, ok := kinds[k.Work()]; ok {
				return work
			}
		}
	}
	return timeline.Other
}
