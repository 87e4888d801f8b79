package hostir_test

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// A merged buffer is gone from the program, and the copy of a rank's own rows with it.
func TestMerge(t *testing.T) {
	p, err := lower.Lower("X", catalog.AllGather)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Merge("A", "C"); err != nil {
		t.Fatal(err)
	}
	text := hostir.Print(p)
	if strings.Contains(text, "Set(C[r]") || !strings.Contains(text, "Set(C[peer], C@peer[peer])") {
		t.Error(text)
	}
	if _, ok := p.Buffer("A"); ok {
		t.Error("A is still a buffer")
	}
	c, _ := p.Buffer("C")
	if !c.Shared || c.Inner.Tensor.Name != "A" || !c.Inner.Part {
		t.Errorf("C is %+v", c)
	}
}

func TestMergeRefused(t *testing.T) {
	for _, x := range []struct {
		name         string
		s            schedule.Schedule
		inner, outer string
		want         string
	}{
		{"a buffer that is none", catalog.AllGather, "B", "C",
			"both must be buffers of the caller with chunks alike"},
		{"into staging", catalog.ReduceScatter, "A", "slots", "both must be buffers"},
		{"uneven rows", catalog.AllGatherV, "A", "C", "both must be buffers"},
		{"no place", catalog.AllGatherLinear, "A", "C", "the placements give it no place"},
		{"the larger into the smaller", catalog.AllGather, "C", "A", "the placements give it no place"},
	} {
		p, err := lower.Lower("X", x.s)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Merge(x.inner, x.outer); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
}
