package served

import (
	"testing"

	s "ovgen/schedule"
)

// writtenSiLU is a gate as somebody writes it: above 88.7 its exponential is infinite in fp32, and it is NaN.
var writtenSiLU = s.Func{Word: "silu", Is: s.Over(s.Times(s.X, s.Exp(s.X)), s.Plus(s.Num(1), s.Exp(s.X)))}

// rootsOf and logsOf are NaN of numbers below zero, and logarithms of zero are infinite.
var (
	rootsOf = s.Func{Word: "root", Is: s.Root(s.X)}
	logsOf  = s.Func{Word: "log", Is: s.Log(s.X)}
)

// notNumbers are right schedules that make NaN and infinities of some inputs, and sums, norms, products, codes and
// calls of these. They are run in packages of their names by TestAcceptedAreGreen.
var notNumbers = map[string]form{
	"RootsOfRows": of("A[M N] C[M N]", s.Copy("C", "A", rootsOf)),
	"LogsOfSums":  of("A[M K/D] W[N K/D] C[M/D N]", s.Linear("C", "A", "W", logsOf)),
	"QuotientsAtZero": of("A[M/D K] W[N/D K] C[M:D N/D]",
		s.Linear("C", "A", "W", s.Func{Is: s.Over(s.X, s.X)})),
	"WrittenSiLU":  of("A[M K/D] W[N K/D] C[M N]", s.Linear("C", "A", "W", writtenSiLU)),
	"NormsOfRoots": of("A[D/D M N] V[N] C[M/D N]", s.Sum("C", "A", rootsOf, s.RMSNorm("V"))),
	"MostOfLogs":   of("A[M/D N] C[M N]", s.Copy("C", "A", logsOf, s.Softmax())),
	"RootsAboveZero": of("A[M N] C[M N]", s.Copy("C", "A", s.Func{Is: s.Greatest(s.Root(s.X), s.Num(0))},
		s.Func{Is: s.Least(s.Num(2), s.Log(s.X))})),
	"ProductsOfGates": of("A[M/D K] W[F/D K] V[N F/D] C[M/D N]", s.Linear("H", "A", "W", writtenSiLU),
		s.Linear("C", "H", "V", s.GELU())),
	"ProductsOfRoots": of("A[M/D K] W[N/D K] C[M:D N/D]", s.Copy("H", "A", rootsOf), s.Linear("C", "H", "W")),
	"GradientsOfLogs": of("A[M/D N] B[M/D K] Z[M/D K] C[N/D K]", s.Copy("Z", "B", logsOf), s.Gradient("C", "A", "Z")),
	"SummandsOfLogs": of("A[M/D K] W[N/D K] Down[K N/D] C[M/D K]", s.Linear("H", "A", "W", logsOf),
		s.CallPartial("C", "MyGEMM", "mk,nk->mn", "H", "Down")),
	"CodesOfRoots": of("A[M/D K] C[M K]", s.Copy("C", "A", rootsOf, s.Quantise())).eight(true, "C"),
	"FourBitsOfRoots": of("A[M/D K] C[M/D K]", s.Copy("C", "A", rootsOf, s.QuantiseFP4())).
		coded(s.E2M1, s.E4M3, 16, "C"),
	"CallsOfRoots": of("A[M/D K] W[N/D K] V[K N/D] C[M/D K]", s.Linear("H", "A", "W", rootsOf),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "V")),
	"RootsInFP32": of("A[M/D N] C[M/D N]", s.Copy("C", "A", rootsOf, s.SquaredReLU())).in32("C"),
}

// TestNotNumbers: both checkers agree on each.
func TestNotNumbers(t *testing.T) {
	for name, f := range notNumbers {
		isCrossed(t, name, f.Schedule, 1, 2, 3)
	}
}
