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
		c, err := find(x.Schedule)
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

// TestRefuses: a placement, or an operand, is refused by its field, with what the operations ask for.
func TestRefuses(t *testing.T) {
	linear := schedule.Linear
	for tensors, x := range map[string]struct {
		ops  []schedule.Op
		want string
	}{
		"A[M K/D] B[N K] C[M/D N] G[M N/D]": {[]schedule.Op{linear("C", "A", "B"),
			schedule.Copy("G", "C", schedule.GELU())},
			"Tensors[1]: A is spread along what is summed over, and B is not (place it [N, DIDx(D), K/D])"},
		"A[M/D N] G[M N] C[M N]": {[]schedule.Op{schedule.Copy("G", "A", schedule.GELU()), schedule.Copy("C", "A")},
			"Ops[1]: no pass gives the caller A twice (make C by a schedule of its own)"},
		"A[M*4/D K] B[N K] B2[N2 K] C[M*4:D N] C2[M:4*D N2]": {[]schedule.Op{linear("C", "A", "B"),
			linear("C2", "A", "B2")}, "Tensors[4]: C2 is made in another order than C (place it as C)"},
		"A[M K/D] B[N K/D] T@0[P] C[M N] E[M N]": {[]schedule.Op{linear("C", "A", "B"),
			schedule.Call("E", "F", "mn,p->mn", "C", "T")},
			"Tensors[2]: no pass calls for a tensor on rank 0 (let every rank have it)"},
		"A[M/D K] B[K K] X[K K] C[M:D K]": {[]schedule.Op{linear("V", "X", "B"), linear("C", "A", "V")},
			"Ops[1].In[1]: no pass multiplies by V, which an operation makes (name a tensor that no operation makes)"},
		"A[D/D M K] B[N K] C[M N]": {[]schedule.Op{schedule.Call("H", "F", "dmk->mk", "A"), linear("C", "H", "B")},
			"Tensors[0]: A has 3 axes, and a chain's tensors have rows and columns (give it two axes)"},
		"A[M/D K] B[N K] R[N N] C[M:D N]": {[]schedule.Op{schedule.Call("V", "F", "ab->a", "R"),
			linear("C", "A", "B", schedule.Bias("V"))}, "Ops[1].Then[0].Is.Of[1].Tensor: no pass reads V by column, " +
			"which the call F makes (let functions make it)"},
		"A[M/D K] B[N/D K] B2[N K] G[M N] C[M N]": {[]schedule.Op{linear("G", "A", "B"),
			linear("C", "A", "B2", schedule.Add("G"))}, "Ops[1].Then[0].Is.Of[1].Tensor: no pass goes on with all " +
			"columns of G (end the schedule with G, and make C behind its plan)"},
	} {
		_, err := find(schedule.Schedule{Tensors: scheduletest.Tensors(tensors), Ops: x.ops})
		if got := fmt.Sprint(err); got != x.want {
			t.Errorf("%s: refused with\n%s, want\n%s", tensors, got, x.want)
		}
	}
}

// TestNamesBetween: what comes before functions of a sum has a name that no tensor has.
func TestNamesBetween(t *testing.T) {
	c, err := find(schedule.Schedule{Tensors: scheduletest.Tensors("A[M K/D] B[N K/D] C[M/D N] Csum[N]"),
		Ops: []schedule.Op{schedule.Linear("C", "A", "B", schedule.RMSNorm("Csum"))}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Stages[0].Sums; got != "Csums" {
		t.Errorf("the sum is called %s, want Csums", got)
	}
}

// find finds the stages where each way brings rows one rank's after another's.
func find(s schedule.Schedule) (*stages.Chain, error) {
	return stages.Of(s.WithDefaults().Apart().Canonical(), func(schedule.Way) bool { return true })
}
