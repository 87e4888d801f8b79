package stages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/schedule/stages"
)

// TestStages: each stage has the operations up to the next communication, and says what comes and what leaves.
func TestStages(t *testing.T) {
	for _, x := range []struct {
		name string
		schedule.Schedule
		want string
	}{
		{"rows that are gathered", catalog.AllGatherLinear, "gathers A: C"},
		{"sums for their owners", catalog.LinearReduceScatter, "A: C sums C"},
		{"sums for all", catalog.LinearAllReduce, "A: C sums C for all"},
		{"a gather alone", catalog.AllGather, "gathers A into C:"},
		{"two products", catalog.TensorParallelMLP, "gathers A: H, C sums C"},
		{"own rows between two layers", catalog.BlockBehindAttention,
			"Attention: R sums R; R of own rows: X; gathers X: U, G, C sums C"},
		{"columns that the caller wants whole", scheduletest.Of("linear",
			scheduletest.Tensors("A[M K] B[N/D K] C[M N]")...), "A: C; gathers Ccolumns into C:"},
		{"a weight that travels", scheduletest.Of("linear", scheduletest.Tensors("A[M/D K] B[N/D K] C[M/D N]")...),
			"gathers B:; A of own rows: C"},
	} {
		s := x.Schedule.WithDefaults().Apart().Canonical()
		c, err := stages.Of(s, func(schedule.Way) bool { return true })
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		var list []string
		for _, s := range c.Stages {
			list = append(list, text(s))
		}
		if diff := cmp.Diff(x.want, strings.Join(list, "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, diff)
		}
	}
}

// text is "gathers A into G: H, C sums C for all".
func text(s *stages.Stage) string {
	var made []string
	for _, o := range s.Ops {
		made = append(made, o.Out)
	}
	text := s.Input
	for _, fact := range []struct {
		is   bool
		text string
	}{{s.Gathers, "gathers " + text}, {s.Into != "", "gathers " + text + " into " + s.Into},
		{s.Own, text + " of own rows"}} {
		if fact.is {
			text = fact.text
		}
	}
	text = strings.TrimSpace(fmt.Sprintf("%s: %s", text, strings.Join(made, ", ")))
	if s.Sums != "" {
		text += " sums " + s.Sums
	}
	if s.ToAll {
		text += " for all"
	}
	return text
}

// TestRefuses: a placement is refused by its field, with the one that the operations ask for.
func TestRefuses(t *testing.T) {
	s := scheduletest.Of("linear", scheduletest.Tensors("A[M K/D] B[N K] C[M/D N]")...)
	s.Ops = append(s.Ops, schedule.Copy("G", "C", schedule.GELU()))
	s.Tensors = append(s.Tensors, scheduletest.Tensors("G[M N/D]")...)
	_, err := stages.Of(s.WithDefaults().Apart().Canonical(), func(schedule.Way) bool { return true })
	const want = "Tensors[1]: A is spread along what is summed over, and B is not (place it [N, DIDx(D), K/D])"
	if got := fmt.Sprint(err); got != want {
		t.Errorf("refused with %s, want %s", got, want)
	}
}
