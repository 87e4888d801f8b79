package lower

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
	"ovgen/schedule/scheduletest"
	"ovgen/schedule/stages"
	"ovgen/verify/prove"
)

// TestNeeds: the table of communications and that of ways have each other's.
func TestNeeds(t *testing.T) {
	for _, n := range needs() {
		if !slices.ContainsFunc(lowerings, func(l lowering) bool { return l.need == n.Need }) {
			t.Errorf("no way does the %s", n)
		}
	}
	for _, l := range lowerings {
		if !slices.ContainsFunc(needs(), func(n stages.Placed) bool { return n.Need == l.need }) {
			t.Errorf("%T does the %s, and no placements ask for it", l.way, l.need)
		}
	}
}

// example is a schedule that needs a communication: tensors, and operations of the usual name.
type example struct{ operation, tensors string }

// examples are schedules that need each communication and no other.
var examples = map[need]example{
	gather(ofRows):            {"linear", "A[M/D K] B[N K] C[M:D N]"},
	gather(ofBalanced):        {"linear", "A[M/D= K] B[N K] C[M N]"},
	gather(ofBatches):         {"linear", "A[M*4/D K] B[N K] C[M*4:D N]"},
	gather(ofSteps):           {"linear", "A[M*4/D K] B[N K] C[M:4*D N]"},
	gather(ofColumns):         {"linear", "A[M K] B[N/D K] C[M N]"},
	gather(ofOperand):         {"linear", "A[M/D K] B[N/D K] C[M/D N]"},
	gather(ofRows).Alone():    {"copy", "A[M/D N] C[M N]"},
	gather(ofCounted):         {"linear", "A[M/D~P K] B[N K] C[M N]"},
	gather(ofCounted).Alone(): {"copy", "A[M/D~P N] C[M N]"},
	reduce(ofRows):            {"linear", "A[M K/D] B[N K/D] C[M/D N]"},
	reduce(ofColumns):         {"linear", "A[M K/D] B[N K/D] C[M N/D]"},
	reduce(ofBalanced):        {"linear", "A[M K/D] B[N K/D] C[M/D= N]"},
	reduce(ofBatches):         {"linear", "A[M K/D] B[N K/D] C[M*4/D N]"},
	reduce(ofGradient):        {"gradient", "A[M/D N] B[M/D K] C[N/D K]"},
	reduce(ofRows).Alone():    {"sum", "A[D/D M N] C[M/D N]"},
	reduce(ofCounted):         {"linear", "A[M K/D] B[N K/D] C[M/D~P N]"},
	reduce(ofCounted).Alone(): {"sum", "A[D/D M N] C[M/D~P N]"},
	reduceAll(ofRows):         {"linear", "A[M K/D] B[N K/D] C[M N]"},
	reduceAll(ofBatches):      {"mlp", "A[M*4/D K] B[F/D K] B2[N F/D] C[M N]"},
	reduceAll(ofCounted):      {"mlp", "A[M/D~ K] B[F/D K] B2[N F/D] C[M N]"},
	reduceAll(ofGradient):     {"gradient", "A[M/D N] B[M/D K] C[N K]"},
	reduceAll(ofRows).Alone(): {"sum", "A[D/D M N] C[M N]"},
	stages.Exchange:           {"copy", "A[D/D D M] C[D D/D M]"},
	stages.ExchangeCounted:    {"copy", "A[D/D~ D M] C[D D/D~ M]"},
	stages.ExchangeColumns:    {"copy", "A[M/D N] C[M N/D]"},
	stages.Broadcast:          {"copy", "A@0[M N] C[M N]"},
	stages.Rotation:           {"copy", "A[M/D N] C[M/D+1 N]"},
}

// exampleOf is the schedule that needs a communication, by a way or by the default; over hosts it has a mesh besides.
func exampleOf(n need, w schedule.Way) schedule.Schedule {
	x := examples[need{Kind: n.Kind, Of: n.Of, Bare: n.Bare}]
	s := scheduletest.Of(x.operation, scheduletest.Tensors(strings.ReplaceAll(x.tensors, "=", ""))...)
	for i := range s.Tensors {
		for j := range s.Tensors[i].Axes {
			for k := range s.Tensors[i].Axes[j].Outer {
				s.Tensors[i].Axes[j].Outer[k].Balanced = strings.Contains(x.tensors, s.Tensors[i].Name+"[M/D=")
				s.Tensors[i].Axes[j].Outer[k].Uneven = s.Tensors[i].Axes[j].Outer[k].Uneven ||
					s.Tensors[i].Axes[j].Outer[k].Balanced
			}
		}
	}
	if n.Hosts {
		s.Mesh = schedule.Hosts()
	}
	of := map[bool]string{false: "A", true: "C"}[n.Sums() || n.Kind == edges.AllGather && n.Of == ofColumns]
	if n.Of == ofOperand {
		of = "B"
	}
	s.Moves = []schedule.Move{{Of: of, Way: w}}
	return s
}

// TestExamples: each schedule needs its communication, as the last one.
func TestExamples(t *testing.T) {
	for _, n := range needs() {
		p, err := Lower("X", exampleOf(n.Need, nil))
		if err != nil {
			t.Errorf("%s: %v", n, err)
		} else if e := p.Edges[len(p.Edges)-1]; e.Kind != n.String() || e.Data != n.Data() {
			t.Errorf("%s: the example needs the %s of %s", n, e.Kind, e.Data)
		}
	}
}

// lacking are facts about what a communication has not, and what its program has not then. The other facts are about
// what a way can't do.
var lacking = map[string]func(p *hostir.Program) bool{
	"it brings a batch of all ranks' rows a step": func(p *hostir.Program) bool { return p.Constants[chunksName] == 0 },
	"one product takes all counted rows, as New is told their sum alone, and by it products take some before " +
		"others": func(p *hostir.Program) bool {
		return len(p.Edges[0].Products) > 0
	},
	"it makes the rows of a linear one rank's after another's, and one product makes all " +
		"counted rows": func(p *hostir.Program) bool {
		products := 0
		hostir.Steps(p.Body, func(s hostir.Step) {
			if s.Kind() == hostir.ProductKind {
				products++
			}
		})
		return len(p.Edges[0].Products) > 0 && products == 1
	},
	"no product takes some rows while others come": func(p *hostir.Program) bool {
		return len(p.Edges[0].Products) == 0
	},
}

// TestHoles: where a way does not do a communication, its refusal says the fact why; and it is one: what writes the
// way's other communications does not write a program of this one that is proven.
func TestHoles(t *testing.T) {
	forced := 0
	for _, n := range needs() {
		for _, w := range schedule.Ways() {
			if slices.ContainsFunc(lowerings, func(l lowering) bool { return l.need == n.Need && l.takes(w) }) {
				continue
			}
			s, why := exampleOf(n.Need, w), whyNot(n.Need, w)
			_, err := Lower("X", s)
			if list := schedule.FieldErrors(err); why == "" || len(list) != 1 || list[0].Path != "Moves[0].Way" ||
				!strings.HasSuffix(list[0].Msg, why) {
				t.Errorf("the %s by %s is refused by %v, want the fact %q", n, schedule.WayName(w), err, why)
			}
			usual, err := Lower("X", exampleOf(n.Need, nil))
			if lacks, known := lacking[why]; err == nil && known && lacks(usual) {
				continue
			}
			for _, l := range lowerings {
				if l.takes(w) {
					forced++
					if forcedTo(t, n.Need, l, s) != nil {
						t.Errorf("%q is no fact: the %s by %s is proven, as its %s is written", why, n,
							schedule.WayName(w), l.need)
					}
				}
			}
		}
	}
	t.Logf("%d programs were tried", forced)
	for _, n := range needs() {
		if across := n.OverHosts(); !served(across) {
			_, err := Lower("X", exampleOf(across, nil))
			why := whyNot(across, schedule.Rails{})
			if list := schedule.FieldErrors(err); why == "" || len(list) != 1 || list[0].Path != "Mesh" ||
				!strings.HasSuffix(list[0].Msg, why) {
				t.Errorf("the %s is refused by %v, want the fact %q", across, err, why)
			}
		}
	}
}

// forcedTo is the program of a schedule that is proven, if what writes a communication writes another one so.
func forcedTo(t *testing.T, n need, l lowering, s schedule.Schedule) (p *hostir.Program) {
	before := lowerings
	defer func() {
		lowerings = before
		if recover() != nil { // it finds nothing to write
			p = nil
		}
	}()
	l.need = n
	lowerings = append(slices.Clone(lowerings), l)
	p, err := Lower("X", s)
	if err == nil {
		_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 4}})
	}
	if usual, _ := Lower("X", exampleOf(n, nil)); err != nil || hostir.Print(p) == hostir.Print(usual) {
		return nil // the other one is written whatever the way says
	}
	hostir.Steps(p.Body, func(s hostir.Step) {
		x, multiplies := s.Do.(hostir.Product)
		if b, _ := p.Buffer(x.To.Buffer); multiplies && !x.To.Count.IsZero() && !b.Counts.IsZero() {
			err = errors.New("a package declares a product of each size, and not of several parts of other sizes")
		}
	})
	if err != nil {
		return nil
	}
	return p
}
