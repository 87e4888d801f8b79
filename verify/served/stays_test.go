package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// stays are schedules in which nothing travels: each rank makes its results of what it has.
var stays = []struct {
	name string
	form
}{
	{"columns of a linear", linear("A[M K] B[N/D K] C[M N/D]")},
	{"columns of a matmul", matmul("A[M K] B[K N/D] C[M N/D]")},
	{"own rows, in fp32 too", linear("A[M/D K] B[N K] C[M/D N]").types("fp32", "bf16")},
	{"on every rank", linear("A[M K] B[N K] C[M N]")},
	{"two layers of own rows", mlp("A[M/D K] B[F K] B2[N F] C[M/D N]")},
	{"the end of a model", of("A[M K] Norm[K] B[N/D K] C[M N/D]", s.Copy("X", "A", s.RMSNorm("Norm")),
		s.Linear("C", "X", "B", s.SoftCap(30)))},
	{"a call of logits", of("A[M K] B[N/D K] C[M N/D]", s.Linear("L", "A", "B"), s.Call("C", "Cap", "mn->mn", "L"))},
	{"queries, normed and turned", of("A[M K] B[N/D K] Q[W] T[M W] C[M N/D]",
		s.Linear("C", "A", "B", s.RMSNorm("Q").PerHead(s.W), s.Rotary("T")))},
	{"batches", of("A[F M K] B[N K] Bias[N] C[F M N]", s.BatchedLinear("C", "A", "B", s.Bias("Bias"), s.GELU()))},
	{"own batches", of("A[F/D M K] B[N K] R[F/D M N] C[F/D M N]", s.BatchedLinear("C", "A", "B", s.Add("R")))},
	{"own rows of batches", of("A[4 M/D N] R[4 M/D N] W[N] V[N] C[4 M/D N]",
		s.Copy("C", "A", s.Add("R"), s.LayerNorm("W", "V")))},
	{"the end of a model, of batches", batchesNormed},
	{"two layers of batches", of("A[F M K] B[N K] B2[K N] C[F M K]", s.BatchedLinear("X", "A", "B", s.SiLU()),
		s.BatchedLinear("C", "X", "B2", s.Add("A")))},
	{"a number for each row of batches", of("A[F M N] U[F M] C[F M N]",
		s.Copy("C", "A", s.Func{Is: s.Times(s.X, s.Column("U"))}))},
	{"functions of batches, twice", of("A[F M N] R[F M N] C[F M N] C2[F M N]", s.Copy("C", "A", s.SiLU()),
		s.Copy("C2", "A", s.Add("R")))},
	{"four axes", fourAxes},
	{"columns of three axes", of("A[F M N/D] C[F M N/D]", s.Copy("C", "A", s.SoftCap(30)))},
}

// batchesNormed is the end of a model, of batches that are an axis.
var batchesNormed = of("A[F M K] Norm[K] B[N/D K] C[F M N/D]", s.Copy("X", "A", s.RMSNorm("Norm")),
	s.BatchedLinear("C", "X", "B", s.SoftCap(30)))

// fourAxes are own rows of two axes of batches.
var fourAxes = of("A[F N2 M/D N] C[F N2 M/D N]", s.Copy("C", "A", s.Softmax()))

// TestStays: a program in which nothing travels is on one stream and communicates by nothing.
func TestStays(t *testing.T) {
	for _, x := range stays {
		isCrossed(t, x.name, x.Schedule, 1, 2, 3, 4, 5, 6, 7, 8)
		p, err := lower.Lower("X", x.Schedule)
		if err == nil && (len(p.Edges) > 0 || len(p.Streams) != 1 || len(p.Semaphores) > 0) {
			t.Errorf("%s: edges %v, streams %v, words %v", x.name, p.Edges, p.Streams, p.Semaphores)
		}
	}
	hosts := form{scheduletest.Clone(stays[5].Schedule)}
	hosts.Mesh = s.Hosts()
	// One that a copy alone makes, or the caller's own work, needs no plan; and none needs hosts.
	for _, x := range []form{moved("A[M/D N] C[M/D N]"), of("A[M K] C[M K]", s.Call("C", "Own", "mk->mk", "A")),
		hosts} {
		if _, err := lower.Lower("X", x.Schedule); err == nil {
			t.Errorf("%v is served", x.Ops)
		}
	}
	table := declared{form: of("A[F M N] T[M 64] C[F M N]", s.Copy("C", "A", s.Rotary("T"))),
		verdict: at("Ops[0].Then[0].Is.Of[0].Of[1].Tensor", "no kernel reads the rows of T again for each batch")}
	if _, err := table.holds(t); err != nil {
		t.Error(err)
	}
}
