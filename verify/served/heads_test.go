package served

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

// heads are products before an all-to-all to columns, and behind one back to rows.
var heads = []declared{
	{"H01", "to columns", toColumns, served},
	{"H02", "of what the caller does not get", of("A[M/D K] W[N K] C[M N/D]", s.Linear("Q", "A", "W"),
		s.Copy("C", "Q")), served},
	{"H03", "with a bias and an epilogue", of("A[M/D K] W[N K] Bias[N] Q[M/D N] C[M N/D]",
		s.Linear("Q", "A", "W", s.Bias("Bias"), s.GELU()), s.Copy("C", "Q")), served},
	{"H04", "by a weight that is gathered", of("A[M/D K] W[N/D K] Q[M/D N] C[M N/D]", s.Linear("Q", "A", "W"),
		s.Copy("C", "Q")), served},
	{"H05", "with a residual, which a kernel of its own adds", of("A[M/D K] W[N K] R[M/D N] Q[M/D N] C[M N/D]",
		s.Linear("Q", "A", "W", s.Add("R")), s.Copy("C", "Q")), served},
	{"H06", "by a matmul", of("A[M/D K] W[K N] Q[M/D N] C[M N/D]", s.Matmul("Q", "A", "W"), s.Copy("C", "Q")),
		served},
	{"H07", "and to another product", of("A[M/D K] W[N K] W2[F N] Q[M/D N] C[M N/D] H[M/D F]",
		s.Linear("Q", "A", "W"), s.Copy("C", "Q"), s.Linear("H", "Q", "W2")), served},
	{"H08", "back to rows", of("O[M N/D] R[M/D N] W[K N] C[M/D K]", s.Copy("R", "O"), s.Linear("C", "R", "W")), served},
	{"H09", "of what the caller does not get, with a bias and a residual", of(
		"O[M N/D] W[K N] Bias[K] X[M/D K] C[M/D K]", s.Copy("R", "O"),
		s.Linear("C", "R", "W", s.Bias("Bias"), s.Add("X"))), served},
	{"H10", "to a matmul", of("O[M N/D] R[M/D N] W[N K] C[M/D K]", s.Copy("R", "O"), s.Matmul("C", "R", "W")),
		served},
	{"H11", "and beside a function", of("O[M N/D] R[M/D N] W[K N] C[M/D K] X[M/D N] Y[M/D N]", s.Copy("R", "O"),
		s.Linear("C", "R", "W"), s.Copy("Y", "X", s.Add("R"))), served},
	{"H12", "made by a call", of("A[M/D N] C[M N/D]", s.CallRows("Q", "Own", "mn->mn", "A"), s.Copy("C", "Q")),
		served},
	{"H13", "and to a call", of("Q[M/D N] C[M N/D] H[M/D N]", s.Copy("C", "Q"), s.CallRows("H", "Own", "mn->mn", "Q")),
		served},
	{"H14", "back, to a call", of("A[M N/D] C[M/D N] H[M/D N]", s.Copy("C", "A"),
		s.CallRows("H", "Own", "mn->mn", "C")), served},
	{"H15", "columns of a product of rows that are gathered", of("A[M/D K] W[N/D K] R[M/D N]",
		s.Linear("O", "A", "W"), s.Copy("R", "O")), served},
	{"H16", "columns to a product whose sum goes to rows", of("A[M/D N] C[M N/D] W[K N/D] R[M/D K]", s.Copy("C", "A"),
		s.Linear("R", "C", "W")), served},
	{"H17", "a function of columns between two", of(
		"A[M/D K] W[N K] C[M N/D] R[M/D N] W2[K N] Y[M/D K]", s.Linear("Q", "A", "W"), s.Copy("C", "Q"),
		s.Copy("G", "C", s.GELU()), s.Copy("R", "G"), s.Linear("Y", "R", "W2")), served},
	{"H18", "what the caller has, and to a product", of("Q[M/D N] C[M N/D] W[F N] H[M/D F]", s.Copy("C", "Q"),
		s.Linear("H", "Q", "W")), served},
	{"H19", "and all rows to a product", of("Q[M/D N] C[M N/D] W[F N] H[M:D F]", s.Copy("C", "Q"),
		s.Linear("H", "Q", "W")), served},
	{"H20", "and all rows to the caller", of("Q[M/D N] C[M N/D] All[M N] W[F N/D] H[M/D F]", s.Copy("C", "Q"),
		s.Copy("All", "Q"), s.Linear("H", "C", "W")), served},
	{"H20 by NCCL", "its copies are collectives", of("Q[M/D N] C[M N/D] All[M N] W[F N/D] H[M/D F]", s.Copy("C", "Q"),
		s.Copy("All", "Q"), s.Linear("H", "C", "W")).by("Q", s.NCCL{}), served},
	{"H21", "of a function of whole rows, and to another product", of(
		"A[M/D K] W[N K] Norm[N] W2[F N] C[M N/D] H[M/D F]", s.Linear("Q", "A", "W", s.RMSNorm("Norm")),
		s.Copy("C", "Q"), s.Linear("H", "Q", "W2")), served},
	{"H22", "by a weight that is gathered, with a function, and to a call", of(
		"A[M/D K] W[N/D K] R[M/D N] Q[M/D N] C[M N/D] H[M/D N]",
		s.Linear("Q", "A", "W", s.Add("R"), s.GELU()), s.Copy("C", "Q"),
		s.CallRows("H", "Own", "mn->mn", "Q")), served},
	{"P34", "attention between two", form{P34Ulysses}, served},
}

var toColumns = of("A[M/D K] W[N K] Q[M/D N] C[M N/D]", s.Linear("Q", "A", "W"), s.Copy("C", "Q"))

// TestHeads holds each against its verdict, and the explorer agrees on those that are served.
func TestHeads(t *testing.T) { explored(t, "Heads", heads) }

// Prover and explorer know which columns of a product a rank has: those of the own rank are no others'.
func TestOtherColumns(t *testing.T) {
	p, err := lower.Lower("Heads", toColumns.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	p.Body = hostir.MapSteps(p.Body, func(x hostir.Step) []hostir.Node {
		if c, copies := x.Do.(hostir.Copy); copies && c.From.Columns && !c.From.Peer.IsZero() {
			c.From.Index, changed = c.From.Peer, changed+1
			x.Do = c
		}
		return []hostir.Node{x}
	})
	if changed != 1 {
		t.Fatalf("%d copies of peers' columns", changed)
	}
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}}); err == nil {
		t.Error("proven with columns of another rank")
	}
	if _, err := explore.Small(p, []int{2}, false); err == nil {
		t.Error("explored with columns of another rank")
	}
}

// Prover and explorer know how columns lie: a gather of parts of columns, one behind the other, is not all columns of
// each row.
func TestGatheredColumns(t *testing.T) {
	p, err := lower.Lower("Columns", of("A[M N/D] C[M N]", s.Copy("C", "A")).Schedule)
	if err != nil {
		t.Fatal(err)
	}
	p.Buffers[0].Shared, p.Semaphores, p.Streams, p.Setup = false, nil, p.Streams[:1], nil
	gather := hostir.Together(hostir.Stream("main"), hostir.AllGather, hostir.Whole("C"), hostir.Whole("A"))
	p.Body = []hostir.Node{gather}
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}}); err == nil {
		t.Error("proven with columns behind one another")
	}
	if _, err := explore.Small(p, []int{2}, false); err == nil {
		t.Error("explored with columns behind one another")
	}
}

// TestUnderWayTogether: each all-to-all of Ulysses begins when its product is made, and the caller's stream waits for
// none ahead of what reads it.
func TestUnderWayTogether(t *testing.T) {
	p, err := lower.Lower("Ulysses", P34Ulysses)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	hostir.Steps(p.Body, func(x hostir.Step) {
		switch w, signals := x.Signal(); {
		case signals && !w.Wait && w.Semaphore != "read":
			order = append(order, w.Semaphore)
		case x.Kind() == hostir.ProductKind || x.Kind() == hostir.CallKind:
			order = append(order, x.Result().Buffer)
		}
	})
	want := []string{"Q", "Qready", "Kr", "Krready", "V", "Vready", "O", "Oready", "C"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("products and posts stand otherwise (-want +got):\n%s", diff)
	}
	waits := 0
	hostir.Walk(p.Body, func(n hostir.Node) {
		if x, ok := n.(hostir.Synchronize); ok && slices.Equal(x.Streams, []hostir.StreamRef{hostir.Stream("main")}) {
			waits++
		}
	})
	if waits != 3 { // ahead of the call and of the last product, and at the end
		t.Errorf("the caller's stream waits %d times for the copies", waits)
	}
}

// Work that takes all columns of rows needs each part of them: what peers have is not there without their copies.
func TestMissingColumns(t *testing.T) {
	tried := 0
	for _, d := range heads {
		if !slices.Contains([]string{"H08", "H10", "H11", "H14"}, d.id) {
			continue
		}
		tried++
		p, err := lower.Lower("Heads", d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		p.Body = hostir.MapSteps(p.Body, func(x hostir.Step) []hostir.Node {
			if c, copies := x.Do.(hostir.Copy); copies && !c.From.Peer.IsZero() {
				return nil
			}
			return []hostir.Node{x}
		})
		_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2}})
		if err == nil || !strings.Contains(err.Error(), "is read, but nothing in this run has written it") {
			t.Errorf("%s: got %v", d.id, err)
		}
	}
	if tried != 4 {
		t.Errorf("%d of four programs were tried", tried)
	}
}
