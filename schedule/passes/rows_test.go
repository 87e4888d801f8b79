package passes_test

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// Schedules whose functions of rows stand behind a sum or a gather by packets.
const both, codes = "R[M N] V[N]", "Q[M/D N] S[M/D]"

var (
	add, norm, quantise = schedule.Add("R"), schedule.RMSNorm("V"), schedule.Quantise()

	widened = schedule.Copy("C", "Q", schedule.Dequantise("S"))
)

// summed is a sum for all ranks by a way, with functions behind.
func summed(way schedule.Way, tensors string, then ...schedule.Func) schedule.Schedule {
	return schedule.Schedule{Tensors: scheduletest.Tensors("A[D/D M N] C[M N] " + tensors),
		Ops: []schedule.Op{schedule.Sum("C", "A", then...)}, Moves: []schedule.Move{{Of: "C", Way: way}}}
}

// gemma is such a sum that is normed before a residual is added, as layers of Gemma have it.
func gemma(way schedule.Way, then ...schedule.Func) schedule.Schedule {
	s := summed(way, "R[M N] V[N] W[N] Y[M N]", append([]schedule.Func{schedule.RMSNorm("W"), add}, then...)...)
	s.Ops[0] = s.Ops[0].Keeping("Y", 2)
	s.Moves[0].Of = "Y"
	return s
}

// eight is a sum that is kept after some of its functions, and quantised behind all.
func eight(s schedule.Schedule, keeping int) schedule.Schedule {
	list := scheduletest.Tensors("Codes[M N] Scales[M]")
	list[0].Type, list[0].Scale, list[1].Type = schedule.E4M3, "Scales", schedule.FP32
	s.Tensors = append(s.Tensors, list...)
	s.Ops[0] = s.Ops[0].Keeping("C", keeping)
	s.Ops[0].Out, s.Ops[0].Then = "Codes", append(s.Ops[0].Then, quantise)
	return s
}

// owned is a sum whose owners norm its rows, which all ranks gather.
func owned(sum, gather schedule.Way) schedule.Schedule {
	return schedule.Schedule{Tensors: scheduletest.Tensors("A[D/D M N] R[M/D N] V[N] Y[M/D N] C[M N]"),
		Ops:   []schedule.Op{schedule.Sum("X", "A", add, norm).Keeping("Y", 1), schedule.Copy("C", "X")},
		Moves: []schedule.Move{{Of: "Y", Way: sum}, {Of: "X", Way: gather}}}
}

// sent is operations on a rank's rows, whose last one gathers by a way; Q has codes, and S their scales.
func sent(tensors string, way schedule.Way, ops ...schedule.Op) schedule.Schedule {
	s := schedule.Schedule{Tensors: scheduletest.Tensors("A[M/D N] C[M N] " + tensors), Ops: ops,
		Moves: []schedule.Move{{Of: ops[len(ops)-1].In[0], Way: way}}}
	for i, t := range s.Tensors {
		switch t.Name {
		case "Q":
			s.Tensors[i].Type, s.Tensors[i].Scale = schedule.E4M3, "S"
		case "S":
			s.Tensors[i].Type = schedule.FP32
		}
	}
	return s
}

// block is a sum of packets whose rows go through the products of a block behind a norm, which sum by another way.
func block(sum, then schedule.Way) schedule.Schedule {
	return schedule.Schedule{
		Tensors: scheduletest.Tensors("O[M N/D] Wo[K N/D] R[M K] V[K] Up[F/D K] Down[K F/D] C[M/D K]"),
		Ops: []schedule.Op{schedule.Linear("R", "O", "Wo", norm), schedule.Linear("H", "R", "Up"),
			schedule.Linear("C", "H", "Down")},
		Moves: []schedule.Move{{Of: "R", Way: sum}, {Of: "C", Way: then}}}
}

// norms has two of A, one of which is sent.
func norms(ops ...schedule.Op) schedule.Schedule {
	return sent("V[N] Y[M/D N]", schedule.PushGather{Rows: true}, append(ops, schedule.Copy("C", "X"))...)
}

var one, other = schedule.Copy("X", "A", norm), schedule.Copy("Y", "A", norm)

const ofPieces = "Moves[0].Way.Rows: functions of whole rows take the sums of R one rank's rows after another's " +
	"(leave it out, or use schedule.Shot for C)"

// launched has how many launches each of these takes, or where it is refused.
var launched = []struct {
	name     string
	s        schedule.Schedule
	launches int
	wrong    string
}{
	{"codes and scales by a kernel each", sent(codes, schedule.PushGather{}, schedule.Copy("Q", "A", quantise),
		widened), 4, ""},
	{"codes and scales as they are made", sent(codes, schedule.PushGather{Rows: true},
		schedule.Copy("Q", "A", quantise), widened), 1, ""},
	{"behind a norm", sent(codes+" V[N]", schedule.PushGather{Rows: true},
		schedule.Copy("Q", "A", norm, quantise), widened), 1, ""},
	{"read by a norm", sent(codes+" V[N]", schedule.PushGather{Rows: true}, schedule.Copy("Q", "A", quantise),
		schedule.Copy("C", "Q", schedule.Dequantise("S"), norm)), 2, ""},
	{"with a row for each rank", sent(codes+" V[N]", schedule.PushGather{Rows: true},
		schedule.Copy("Q", "A", quantise), schedule.Copy("C", "Q", schedule.Dequantise("S"), schedule.Bias("V"))),
		1, ""},
	{"behind a norm that is kept", sent(codes+" V[N] Y[M/D N]", schedule.PushGather{Rows: true},
		schedule.Copy("Y", "A", norm), schedule.Copy("Q", "Y", quantise), widened), 1, ""},
	{"a norm as it is made", sent("V[N] Y[M/D N]", schedule.PushGather{Rows: true}, schedule.Copy("Y", "A", norm),
		schedule.Copy("C", "Y")), 1, ""},
	{"rows that are made of elements", sent("Y[M/D N]", schedule.PushGather{Rows: true},
		schedule.Copy("Y", "A", schedule.Scale(.5)), schedule.Copy("C", "Y")), 0, "Moves[0].Way.Rows"},
	{"rows that nothing makes", sent("", schedule.PushGather{Rows: true}, schedule.Copy("C", "A")), 0,
		"Moves[0].Way.Rows: no kernel of its own makes rows of A"},
	{"rows ahead of another norm", norms(one, other), 0, "Moves[0].Way.Rows: another step stands between the kernel " +
		"that makes rows of X and its packets (leave it out, or make it last)"},
	{"rows that are made last", norms(other, one), 2, ""},
	{"a norm of a rank's rows", block(schedule.PushShot{Rows: true}, schedule.Slots{}), 0, ofPieces},
	{"a norm of a rank's rows, behind two shots", block(schedule.PushTwoShot{Rows: true}, schedule.Stores{}), 0,
		ofPieces},
	{"a norm of all rows", block(schedule.PushShot{Rows: true}, schedule.Shot{}), 5, ""},
	{"a norm of all rows, behind two shots", block(schedule.PushTwoShot{Rows: true}, schedule.Shot{}), 5, ""},
	{"by two kernels", summed(schedule.PushShot{}, both, add, norm), 2, ""},
	{"by one", summed(schedule.PushShot{Rows: true}, both, add, norm), 1, ""},
	{"without a residual", summed(schedule.PushShot{Rows: true}, "V[N]", norm), 1, ""},
	{"norms behind a sum", gemma(schedule.PushShot{}, norm), 2, ""},
	{"norms behind one sum of all", gemma(schedule.Shot{}, norm), 2, ""},
	{"the sum and norms", gemma(schedule.PushShot{Rows: true}, norm), 1, ""},
	{"and what is of an element", gemma(schedule.PushShot{Rows: true}, schedule.Modulate("V", "V")), 2, ""},
	{"eight bits of the norm", eight(summed(schedule.PushShot{Rows: true}, both, add, norm), 2), 1, ""},
	{"a norm of eight bits alone", eight(summed(schedule.PushShot{Rows: true}, both, add, norm), 1), 1, ""},
	{"eight bits of the sum", eight(summed(schedule.PushShot{Rows: true}, "R[M N]", add), 1), 1, ""},
	{"eight bits behind packets", eight(summed(schedule.PushShot{}, both, add, norm), 2), 2, ""},
	{"eight bits behind one sum of all", eight(summed(schedule.Shot{}, both, add, norm), 2), 2, ""},
	{"owners", summed(schedule.PushTwoShot{Rows: true}, both, add, norm), 1, ""},
	{"owners of sums that are kept", gemma(schedule.PushTwoShot{Rows: true}, norm), 1, ""},
	{"owners, and eight bits by all ranks", eight(summed(schedule.PushTwoShot{Rows: true}, both, add, norm), 2), 2, ""},
	{"all ranks behind two shots", summed(schedule.PushTwoShot{}, both, add, norm), 2, ""},
	{"owners of nothing", summed(schedule.PushTwoShot{Rows: true}, "R[M N]", add), 0, "Moves[0].Way.Rows"},
	{"owners by packets", owned(schedule.PushShot{Rows: true}, schedule.PushGather{}), 1, ""},
	{"owners by two kernels", owned(schedule.PushShot{}, schedule.PushGather{}), 3, ""},
	{"owners and a gather apart", owned(schedule.PushShot{Rows: true}, schedule.GatherShot{}), 2, ""},
	{"nothing behind", summed(schedule.PushShot{Rows: true}, "R[M N]", add), 0, "Moves[0].Way.Rows"},
	{"an element's", summed(schedule.PushShot{Rows: true}, "R[M N]", add, schedule.Scale(.5)), 0, "Moves[0].Way.Rows"},
	{"plain data", summed(schedule.PushShot{Rows: true, Words: true}, both, add, norm), 0,
		"Moves[0].Way.Rows: the kernel of plain data makes no function of whole rows of "},
}

// A sum of packets makes the norm behind it in its own launch where the way says so, and the way may not say so where
// no function of whole rows follows.
func TestRows(t *testing.T) {
	for _, test := range launched {
		p, err := lower.Lower("x", test.s)
		if test.wrong != "" {
			if err == nil || !strings.HasPrefix(err.Error(), test.wrong) {
				t.Errorf("%s: %v, want an error at %s", test.name, err, test.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		launches := 0
		hostir.Steps(p.Body, func(hostir.Step) { launches++ })
		if launches != test.launches {
			t.Errorf("%s: %d launches, want %d:\n%s", test.name, launches, test.launches, hostir.Print(p))
		}
	}
}
