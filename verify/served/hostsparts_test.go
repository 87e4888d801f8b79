package served

import (
	"errors"
	"maps"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
	"ovgen/verify/sampling"
)

// partsOverHosts have rows of ranks that differ, which hosts exchange: a rank sends other bytes than it gets.
var partsOverHosts = map[string]form{
	"BalancedOverHosts": linear("A[M/D~ K] B[N K] C[M N]").inBalance().onHosts(),
	"BalancedKeptOverHosts": of("A[M/D~ K] B[N/D K] B2[N2/D K] C[M N/D] C2[M N2/D] E[M K]",
		s.Linear("C", "A", "B", s.SiLU()), s.Linear("C2", "A", "B2"), s.Copy("E", "A")).inBalance().onHosts(),
	"CountedOverHosts": linear("A[M/D~ K] B[N K] C[M N]").onHosts(),
	"CountedKeptOverHosts": of("A[M/D~ K] B[N K] C[M N] E[M K]", s.Linear("C", "A", "B"),
		s.Copy("E", "A")).onHosts(),
	"CountedAloneOverHosts":     moved("A[M/D~ N] C[M N]").onHosts(),
	"CountedSumsOverHosts":      linear("A[M K/D] B[N K/D] C[M/D~ N]").onHosts(),
	"CountedSumsAloneOverHosts": sum("A[D/D M N] C[M/D~ N]").onHosts(),
	"CountedLayerOverHosts": of("A[M/D~ K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M/D~ K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))).onHosts(),
	"BalancedSumsOverHosts": of("A[M K/D] B[N K/D] R[M/D~ N] V[N] C[M/D~ N]", s.Linear("C", "A", "B", s.Add("R"),
		s.RMSNorm("V"))).inBalance().onHosts(),
	"BalancedNormedOverHosts": of("A[M/D~ K] V[K] Gate[F/D K] Up[F/D K] C[M F/D]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("U", "X", "Up"), s.Linear("C", "X", "Gate", s.SwiGLU("U"))).
		inBalance().onHosts(),
	"BalancedEightOverHosts": linear("A[M/D~ K] B[N/D K] C[M N/D]").eight(true, "A", "B").inBalance().onHosts(),
}

// TestPartsOverHosts: they are proven and explored; TestAcceptedAreGreen runs their packages.
func TestPartsOverHosts(t *testing.T) {
	sampling.Test(t, 2, 3)
	for name, x := range partsOverHosts {
		b := lowering(lower.Lower).become(t, x.Schedule, []int{1, 2, 3, 4, 6, 8}, true)
		if b.wrong != "" || !b.explored || !b.graph {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// TestOnTwoHosts: the explorer agrees on two hosts of two and three ranks, where rails are several and hosts relay.
func TestOnTwoHosts(t *testing.T) {
	sampling.Test(t, 0, 3)
	forms := maps.Clone(partsOverHosts)
	for name, x := range batchWays {
		if x.OverHosts() {
			forms[name] = x
		}
	}
	for name, x := range forms {
		p, err := lower.Lower("X", x.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{4, 6} {
			shape := explore.ShapeOf(p, ranks)
			shape.Hosts = 2
			lists, err := shape.Unroll(p)
			if err != nil {
				t.Fatal(err)
			}
			sys, err := explore.Of(p, shape, lists)
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []explore.Mode{explore.Eager, explore.Captured} {
				if v := sys.With(lists, mode, mode).Look(); !v.Complete || len(v.Violations) > 0 {
					t.Errorf("%s on %d ranks, %v: complete %t, %v", name, ranks, mode, v.Complete, v.Violations)
				}
			}
		}
	}
}

// TestRowsOverHosts: rows of batches are refused where the ranks can't cut each batch, as on one host. A rank without
// rows exchanges like the others.
func TestRowsOverHosts(t *testing.T) {
	for _, x := range []struct {
		form
		rows      int64
		want      string
		exchanges int
	}{
		{batchForm(nil), 24, "a multiple of 4 times the ranks, 32", 0},
		{batchSums(nil), 4, "a multiple of 4 times the ranks, 32", 0},
		{batchForm(nil), 32, "", 4},
		{partsOverHosts["BalancedOverHosts"], 1, "", 1},
		{partsOverHosts["CountedSumsOverHosts"], 1, "", 1},
	} {
		p, err := lower.Lower("X", x.onHosts().Schedule)
		if err != nil {
			t.Fatal(err)
		}
		c := ops.Case{Ranks: 8, Hosts: 2, ElementBits: 16, Extents: hostir.Env{"M": x.rows, "K": 8, "N": 8}}
		if x.want != "" {
			if err := c.Fits(p); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%d rows: %v, want %q", x.rows, err, x.want)
			}
			continue
		}
		if p.Counts(c.Env(p)) == nil { // else the rows of the shape say them
			c.Counts = []int64{0, 0, 0, 0, 0, x.rows, 0, 0}
		}
		lists, err := c.Unroll(p)
		for r, list := range lists {
			exchanges := 0
			for _, o := range list {
				if o.Exchanges() {
					exchanges++
				}
			}
			if exchanges != x.exchanges {
				t.Errorf("%d rows: rank %d has %d exchanges, want %d", x.rows, r, exchanges, x.exchanges)
			}
		}
		if err := errors.Join(err, c.Fits(p)); err != nil {
			t.Errorf("%d rows: %v", x.rows, err)
		}
	}
}
