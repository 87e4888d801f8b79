package trace

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/kernels"
	"ovgen/verify/timeline"
)

// Spans of kernels get the kind of the kernel's work, whether it signals or not, by the texts that plans give
// their steps.
func TestNameKernels(t *testing.T) {
	type named struct {
		text string
		want timeline.Kind
	}
	list := []named{{"Wait ready[1,2]", timeline.Wait}, {"Post ready[1]", timeline.Post},
		{"LaunchKernel reduce_bf16", timeline.Sum}, {"gather, Post ready[1], Wait ready[1]", timeline.Copy},
		{"LaunchKernel mine", timeline.Other}, {"LaunchKernel postbox", timeline.Other}}
	works := map[kernels.Work]timeline.Kind{kernels.Copies: timeline.Copy, kernels.Gathers: timeline.Copy,
		kernels.Sums: timeline.Sum, kernels.Applies: timeline.Sum, kernels.Multiplies: timeline.Product,
		kernels.Scatters: timeline.Product, kernels.Lands: timeline.Sum, kernels.LandsApart: timeline.Copy,
		kernels.LandsTwice: timeline.Sum, kernels.LandsRows: timeline.Copy}
	for _, k := range kernels.Kinds() {
		if k.Work() == kernels.Nothing {
			continue
		}
		for number := range 3 {
			name := kernels.Kernel{Kind: k, Number: number}.Name(driver.FP32)
			list = append(list, named{"LaunchKernel " + name, works[k.Work()]})
		}
		list = append(list, named{string(k) + ", Wait ready[1], Post read[1]", works[k.Work()]})
	}
	var spans []timeline.Span
	steps := []group.Step{{Text: "Synchronize(main)"}}
	for _, x := range list {
		spans = append(spans, timeline.Span{Name: "kernel", Kind: timeline.Other})
		steps = append(steps, group.Step{Text: x.text})
	}
	Name(spans, steps)
	for i, x := range list {
		if spans[i].Name != x.text || spans[i].Kind != x.want {
			t.Errorf("%s: a span %s of kind %q, want %q", x.text, spans[i].Name, spans[i].Kind, x.want)
		}
	}
}

// Where the steps don't fit the spans, these keep their names.
func TestNameOfOthers(t *testing.T) {
	spans := []timeline.Span{{Name: "kernel", Kind: timeline.Other}}
	Name(spans, []group.Step{{Text: "Wait ready[1]"}, {Text: "Post read[1]"}})
	if spans[0] != (timeline.Span{Name: "kernel", Kind: timeline.Other}) {
		t.Errorf("%+v", spans[0])
	}
}
