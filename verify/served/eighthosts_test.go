package served

import (
	"testing"

	s "ovgen/schedule"
)

// eightOverHosts are schedules of eight bits for ranks on several hosts, where rails move codes and their scales.
var eightOverHosts = []declared{
	{"EH01", "rows that travel", gatheredEight(true).onHosts(), served},
	{"EH02", "one scale", gatheredEight(false).onHosts(), served},
	{"EH03", "in parts", gatheredEight(true).by("A", s.Rails{Parts: 2}).onHosts(), served},
	{"EH04", "quantised first", of("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B").onHosts(), served},
	{"EH05", "a reduce-scatter", linear("A[M K/D] B[N K/D] C[M/D N]").eight(true, "A", "B").onHosts(), served},
	{"EH06", "an all-reduce", linear("A[M K/D] B[N K/D] C[M N]").eight(true, "A", "B").onHosts(), served},
	{"EH07", "e5m2", gatheredEight(true).e5m2("A").onHosts(), served},
	{"EH08", "a weight alone", narrowed().eight(true, "B").onHosts(), served},
	{"EH09", "in squares", inSquares().onHosts(), served},
	{"EH10", "sums in squares", squareSums().onHosts(),
		at("Mesh", "Rails takes a part of the rows that are summed to C, and their scales lie block by block")},
	{"EH11", "gathered in eight bits and read as 16", bare16(even, s.Quantise()).eight(true, "Q").onHosts(), served},
	{"EH12", "four bits", bare16(even, s.QuantiseFP4()).fp4("Q").onHosts(), served},
	{"EH13", "a gated MLP", of("A[M/D K] B[F/D K] B2[F/D K] B3[N F/D] C[M/D N]", s.Linear("U", "A", "B2"),
		s.Linear("H", "A", "B", s.SwiGLU("U")), s.Linear("C", "H", "B3")).eight(true, "A", "B", "B2").onHosts(),
		served},
	{"EH14", "sums of codes", quantisedProduct("C[M/D N]").onHosts(),
		at("Mesh", "no pass makes functions of summands, Q, over hosts (leave the mesh out, for ranks of one host)")},
	{"EH15", "rows by counts", linear("A[M/D~ K] B[N K] C[M N]").eight(true, "A", "B").onHosts(), served},
}

// TestEightOverHosts holds each against its verdict. The explorer agrees on the first and on sums.
func TestEightOverHosts(t *testing.T) {
	explored(t, "EightOverHosts", []declared{eightOverHosts[0], eightOverHosts[4]})
	for i := range eightOverHosts {
		d := &eightOverHosts[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s %s: %v", d.id, d.what, err)
		}
	}
}
