package served

import (
	"slices"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

// byRow multiplies each row by a number.
func byRow(name string) s.Func { return s.Func{Is: s.Times(s.X, s.Column(name))} }

// doubles is a tensor of twice the numbers of another.
func doubles(out, in string) s.Op { return s.Copy(out, in, s.Scale(2)) }

// madeShown are functions that read rows, columns, heads' rows and tables which operations make, and gradients whose
// second operand one makes. They are run in packages of their names by TestAcceptedAreGreen.
var madeShown = map[string]form{
	"RowOfNorm": of("A[M N] V[N] C[M N]", doubles("V2", "V"), s.Copy("C", "A", s.RMSNorm("V2"))),
	"RowBehindGather": of("A[M/D N] V[N] V2[N] C[M N]", doubles("V2", "V"), s.Copy("C", "A", s.RMSNorm("V2"))).
		in32("V2"),
	"BiasOfProduct": of("A[M/D K] W[N/D K] V[N/D] V2[N/D] C[M:D N/D]", doubles("V2", "V"),
		s.Linear("C", "A", "W", s.Bias("V2"))),
	"BiasBehindProduct": of("A[M/D K] W[N/D K] V[N/D] C[M:D N/D]", doubles("V2", "V"),
		s.Linear("C", "A", "W", s.GELU(), s.Bias("V2"))),
	"BiasOfSum": of("A[M K/D] W[N K/D] V[N] V2[N] C[M/D N]", doubles("V2", "V"), s.Linear("C", "A", "W", s.Bias("V2"))),
	"BiasByShot": of("A[M K/D] W[N K/D] V[N] C[M/D N]", doubles("V2", "V"), s.Linear("C", "A", "W", s.Bias("V2"))).
		by("C", s.Shot{}),
	"BiasByPackets": of("A[M K/D] W[N K/D] V[N] C[M N]", doubles("V2", "V"), s.Linear("C", "A", "W", s.Bias("V2"))).
		by("C", s.PushShot{}),
	"BiasByStores": of("A[M K/D] W[N K/D] V[N] C[M/D N]", doubles("V2", "V"), s.Linear("C", "A", "W", s.Bias("V2"))).
		by("C", s.Stores{}),
	"BiasByNCCL": of("A[M K/D] W[N K/D] V[N] C[M/D N]", doubles("V2", "V"), s.Linear("C", "A", "W", s.Bias("V2"))).
		by("C", s.NCCL{}),
	"RowOfRows": of("A[M K/D] W[N K/D] V[N] U[N] C[M/D N]", s.Copy("V2", "V", s.Scale(2), s.Add("U")),
		s.Copy("V3", "V2", s.Softmax(), s.Multiply("U")), s.Linear("C", "A", "W", s.RMSNorm("V3"), s.Bias("V2"))),
	"RowsKept": of("A[M N] V[N] V2[N] V3[N] C[M N]", s.Copy("V2", "V", s.Scale(2), s.SiLU()).Keeping("V3", 1),
		s.Copy("C", "A", s.RMSNorm("V2"), s.Bias("V3"))),
	"HeadRow": of("A[M/D K] W[N/D K] Q[64] Q2[64] C[M:D N/D]", doubles("Q2", "Q"),
		s.Linear("C", "A", "W", s.RMSNorm("Q2").PerHead("64"))),
	"RowOfAxes":    of("A[D/D D M] V[M] C[D D/D M]", doubles("V2", "V"), s.Copy("C", "A", s.Bias("V2"))),
	"ColumnOfRows": of("A[M/D N] S[M] S2[M] C[M N]", doubles("S2", "S"), s.Copy("C", "A", byRow("S2"))),
	"ColumnOfProducts": of("A[M/D K] W[N/D K] S[M] C[M:D N/D]", doubles("S2", "S"),
		s.Copy("S3", "S2", s.Add("S")), s.Linear("C", "A", "W", byRow("S3"))),
	"ColumnOfSum": of("A[M K/D] W[N K/D] S[M/D] S2[M/D] V[N] C[M/D N]", doubles("S2", "S"),
		s.Linear("C", "A", "W", s.RMSNorm("V"), byRow("S2"))),
	"ColumnByPackets": of("A[M K/D] W[N K/D] S[M/D] C[M/D N]", doubles("S2", "S"),
		s.Linear("C", "A", "W", byRow("S2"))).by("C", s.PushShot{}),
	"ColumnByCounts": of("A[D/D M N] S[M/D~] S2[M/D~] C[M/D~ N]", doubles("S2", "S"), s.Sum("C", "A", byRow("S2"))),
	"ColumnAndRow":   of("A[M M] S[M] S2[M] C[M M]", doubles("S2", "S"), s.Copy("C", "A", byRow("S2"))),
	"TableMade": of("A[M/D K] W[N/D K] T[M W] T2[M W] C[M:D N/D]", doubles("T2", "T"),
		s.Linear("C", "A", "W", s.Rotary("T2"))),
	"TableGathered": of("A[M/D K] W[N/D K] T[M/D W] T2[M W] C[M:D N/D]", s.Copy("T2", "T"),
		s.Linear("C", "A", "W", s.Rotary("T2"))),
	"TableSummed": of("A[M K/D] W[N K/D] T[D/D M W] T2[M/D W] C[M/D N]", s.Sum("T2", "T"),
		s.Linear("C", "A", "W", s.Rotary("T2"))),
	"TableOfProduct": of("A[M/D K] W[N/D K] P[M K] Q[W K] T2[M W] C[M:D N/D]", s.Linear("T2", "P", "Q"),
		s.Linear("C", "A", "W", s.Rotary("T2"))),
	"TableOfCall": of("A[M/D K] W[N/D K] T[M W] T2[M W] C[M:D N/D]", s.Call("T2", "Own", "mn->mn", "T"),
		s.Linear("C", "A", "W", s.Rotary("T2"))),
	"GradientOfMade": of("A[M/D N] B[M/D K] Z[M/D K] C[N/D K]", s.Copy("Z", "B", s.SiLU()), s.Gradient("C", "A", "Z")),
	"GradientOfProduct": of("A[M/D N] B[M/D P] W[K P] Z[M/D K] C[N K]", s.Linear("Z", "B", "W"),
		s.Gradient("C", "A", "Z")),
	"GradientOfGathered": of("A[M N] B[M/D K] Z[M/D K] C[N K]", s.Copy("Z", "B", s.SiLU()),
		s.Gradient("C", "A", "Z")),
	"GradientOfSteps":          backwardMLP("Dh[M:D F/D]"),
	"GradientOfStepsOverHosts": backwardMLP("Dh[M:D F/D]").onHosts(),
	"WholeBesideCounts": of("A[M/D~ K] W[N K] R[M N] C[M N]", doubles("R2", "R"),
		s.Linear("C", "A", "W", s.SwiGLU("R2"))),
	"TableBesideCounts": of("A[M/D~ K] W[N K] T[M W] T2[M W] C[M N]", doubles("T2", "T"),
		s.Linear("C", "A", "W", s.Rotary("T2"))),
	"RowBesideCounts": of("A[M/D~ K] W[N K] V[N] S[M] C[M N]", doubles("V2", "V"), doubles("S2", "S"),
		s.Linear("C", "A", "W", s.Bias("V2"), byRow("S2"))),
}

// TestMade: both checkers agree on each.
func TestMade(t *testing.T) {
	for name, f := range madeShown {
		isCrossed(t, name, f.Schedule, 1, 2, 3)
	}
}

// TestBrokenMade: both checkers refuse a function of what the operand was made of, and one of an operand that is made
// behind it.
func TestBrokenMade(t *testing.T) {
	d := of("A[M/D K] W[N/D K] V[N/D] T[M W] C[M:D N/D] V2[N/D] T2[M W]", doubles("V2", "V"), doubles("T2", "T"),
		s.Linear("C", "A", "W", s.Bias("V2"), s.Rotary("T2")))
	is := map[string]string{"V2": "V", "T2": "T"}
	made := func(n hostir.Node) bool {
		step, is := n.(hostir.Step)
		return is && strings.HasPrefix(step.Result().Buffer, "V2")
	}
	for name, mutate := range map[string]func(p *hostir.Program){
		"what it was": func(p *hostir.Program) {
			p.Body = hostir.MapSteps(p.Body, func(step hostir.Step) []hostir.Node {
				return []hostir.Node{hostir.Changed(step, func(x *hostir.Apply) {
					for i, o := range x.Operands {
						if of := is[o.Buffer]; of != "" {
							o.Buffer = of
							x.Operands = slices.Clone(x.Operands)
							x.Operands[i] = o
						}
					}
				})}
			})
		},
		"made later": func(p *hostir.Program) {
			i := slices.IndexFunc(p.Body, made)
			p.Body = append(slices.Delete(slices.Clone(p.Body), i, i+1), p.Body[i])
		},
	} {
		p, err := lower.Lower("Made", d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		mutate(p)
		if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 3}}); err == nil {
			t.Errorf("%s: proven", name)
		}
		if explored, err := explore.Small(p, []int{2}, true); err == nil {
			t.Errorf("%s: nothing is found on %v ranks", name, explored)
		}
	}
}

// madeElsewhere are refused by the leaf that reads what an operation makes.
var madeElsewhere = []declared{
	{"a row of all columns", "each rank has some", of("A[M/D K] W[N/D K] V[N] V2[N] C[M:D N/D]", doubles("V2", "V"),
		s.Linear("C", "A", "W", s.Bias("V2"))),
		at("Ops[1].Then[0].Is.Of[1].Tensor", "V2 and C have their columns on different ranks")},
	{"a row of some columns", "each rank has all", of("A[M K/D] W[N K/D] V[N/D] V2[N/D] C[M/D N]", doubles("V2", "V"),
		s.Linear("C", "A", "W", s.Scale(2), s.Bias("V2"))),
		at("Ops[1].Then[1].Is.Of[1].Tensor", "V2 and C have their columns on different ranks")},
	{"numbers of all rows", "each rank has some", of("A[M K/D] W[N K/D] S[M] S2[M] C[M/D N]", doubles("S2", "S"),
		s.Linear("C", "A", "W", byRow("S2"))),
		at("Ops[1].Then[0].Is.Of[1].Tensor", "S2 and C have their rows on different ranks")},
	{"a table of other rows", "each rank has some", of("A[M/D K] W[N/D K] T[M/D W] T2[M/D W] C[M:D N/D]",
		doubles("T2", "T"), s.Linear("C", "A", "W", s.Rotary("T2"))),
		at("Ops[1].Then[0].Is.Of[0].Of[1].Tensor", "T2 and C have their rows on different ranks")},
	{"a head's row in parts", "each head has all", of("A[M K/D] W[N K/D] V[64/D] V2[64/D] C[M/D N]", doubles("V2", "V"),
		s.Linear("C", "A", "W", s.RMSNorm("V2").PerHead("64"))),
		at("Ops[1].Then[0].Is.Of[1].Tensor", "each rank reads all of V2, and has a part of it")},
	{"numbers of rows that know each other", "by a softmax", of("A[M N] S[M] S2[M] C[M N]",
		s.Copy("S2", "S", s.Scale(2), s.Softmax()), s.Copy("C", "A", byRow("S2"))),
		at("Ops[0].Then[1]", "S2 has a number for each row")},
	{"a call's row", "no matrix", of("A[M/D N] V[N] V2[N] O[N] C[M N]", doubles("V2", "V"),
		s.Call("O", "Own", "n->n", "V2"), s.Copy("C", "A", s.RMSNorm("O"))), at("Tensors[3]", "O has 1 axis")},
}

// TestMadeElsewhere holds each against its verdict.
func TestMadeElsewhere(t *testing.T) {
	for i := range madeElsewhere {
		d := &madeElsewhere[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}
