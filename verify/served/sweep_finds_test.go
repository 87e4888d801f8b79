package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

// sweptForm is the form of a name.
func sweptForm(of []swept, name string) form {
	for _, x := range of {
		if x.name == name {
			return x.form.types(s.BF16, s.FP16)
		}
	}
	return form{}
}

// sweptFinds are schedules of the sweep, and others, whose programs a checker refused, or that a rule for others did.
var sweptFinds = []struct {
	what string
	form
}{
	// Memory of partial results that leave whole is in the parts that rows come in, whatever their sum adds.
	{"rows in parts over hosts, which the sum adds", sweptForm(evenForms, "gated MLP").onHosts().
		by("A", s.Rails{Parts: 2})},
	{"the same with a sum in parts before", sweptForm(evenForms, "block").onHosts().by("X", s.Rails{Parts: 3}).
		by("R", s.Rails{Parts: 3})},
	// Over hosts a further stage takes rows on the streams that they came by, or when all products are made.
	{"functions of rows that a layer over hosts gathers", of("A[M/D K] B[F/D K] B2[N F/D] C[M/D N] All[M:D K]",
		s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"), s.Copy("All", "A", s.SiLU())).onHosts()},
	{"functions of what products beside sums over hosts take", of("O[M N/D] Wo[K N/D] V[K] B[F/D K] B2[K F/D] C[M K] "+
		"T[M K]", s.Linear("R", "O", "Wo"), s.Copy("Y", "R", s.RMSNorm("V")), s.Linear("H", "Y", "B"),
		s.Linear("C", "H", "B2"), s.Copy("T", "Y", s.GELU())).onHosts()},
	// Copies of a weight that wait for the peers' are no posts that peers may do without.
	{"a weight that is pushed behind one by packets", sweptForm(evenForms, "weights that come").
		by("Up", s.PushGather{}).by("Down", s.Push{})},
	{"one behind a collective", sweptForm(evenForms, "weights that come").by("Up", s.Push{}).by("Gate", s.NCCL{}).
		by("Down", s.Push{})},
	// The streams of two stages are as many as either has, whatever number products share.
	{"three streams beside two", sweptForm(evenForms, "gathers around a layer").by("A", s.Grouped{}).
		by("E", s.Ring{Direction: s.Both}).by("C", s.Slots{Streams: 3})},
	{"more streams than sums that begin have", sweptForm(evenForms, "a sum beside a gather").
		by("E", s.Push{Parts: 3, By: s.OneKernel}).by("C", s.Stores{Equal: true})},
	// Ranks exchange a rank's rows whole where products take parts of them.
	{"columns that go beside sums in parts", of("A[M K/D] B[N K/D] C[M N] T[M/D K]", s.Linear("C", "A", "B"),
		s.Copy("T", "A")).by("C", s.Slots{Parts: 2})},
	// A gradient's rows lie in parts of their columns where these travel, too.
	{"a gradient of rows whose columns travel", of("Dy[M N/D] X[M/D K] Wt[K N/D] Dx[M/D K] Dw[N/D K] T[M K/D]",
		s.Linear("Dx", "Dy", "Wt"), s.Gradient("Dw", "Dy", "X"), s.Copy("T", "X")).by("Dx", s.Shot{})},
	// Ranks norm the heads that they have, and functions take what comes back of all of them.
	{"heads that come back from their ranks", of("A[M/D N] Q[64] Y[M N/D] T[M/D N]",
		s.Copy("Y", "A", s.RMSNorm("Q").PerHead("64")), s.Copy("T", "Y", s.GELU()))},
	// Where one sum is cut between elements, a function takes whole rows of others.
	{"parts of rows beside parts between elements", sumBeside(s.TwoShot{}, s.TwoShot{}, s.Bias("V"))},
	{"packets with a bias beside such parts", sumBeside(s.PushTwoShot{}, s.PushShot{}, s.Bias("V"))},
	{"a norm of parts of rows beside such parts", sumBeside(s.TwoShot{}, s.PushTwoShot{Rows: true}, s.RMSNorm("V"))},
	{"fp32 beside such parts", sumBeside(s.TwoShot{}, s.PushShot{}).in32("C2")},
	{"codes beside such parts", of("A[M K/D] B[N K/D] C[M N] E[D/D P N] Q[D/D P N] C2[P N]", s.Linear("C", "A", "B"),
		s.Copy("Q", "E", s.Quantise()), s.Sum("C2", "Q")).eight(true, "Q").by("C", s.TwoShot{}).by("C2", s.TwoShot{})},
	// A rank's one row lies whole in memory of a row for each host.
	{"one row a rank over hosts, for all", moved("A[D/D N] C[D N]").onHosts()},
	{"sums of one row a rank", sum("A[D/D D N] C[D/D N]").onHosts()},
	{"sums of one row a rank, for all", sum("A[D/D D N] C[D N]").onHosts()},
	{"products that are summed to one row a rank", linear("A[D K/D] B[N K/D] C[D/D N]").onHosts()},
	{"a norm of one row a rank", of("A[D/D N] V[N] C[D N]", s.Copy("H", "A"), s.Copy("C", "H", s.RMSNorm("V"))).
		onHosts()},
	// A weight has no batches, whatever the rows have.
	{"a weight that comes beside rows in batches", of("A[M*4/D K] B[N/D K] B2[N2/D K] C[M*4:D N/D] C2[M*4/D N2]",
		s.Linear("C", "A", "B"), s.Linear("C2", "A", "B2"))},
	// What products take in parts lies so for the functions behind their sums, too.
	{"a residual that a norm takes in parts", normedMLP("A").by("C", s.NCCL{Parts: 2})},
	{"a residual that is added before a norm too", normedMLP("E").by("C", s.NCCL{Parts: 2})},
	// An exchange leaves whole rows of each rank, and functions of these are such rows.
	{"a gradient of a norm of exchanged rows", of("X[M N/D] B[M/D K] W[N] More[M/D N] H[M N] C[N K]",
		s.Copy("H", "X", s.RMSNorm("W")).Keeping("More", 0), s.Gradient("C", "H", "B"))},
	// All rows are those of all ranks, where others are by counts.
	{"a broadcast beside rows by counts", of("A[M N] B[M/D~ N2] C[M N] E[M N2]", s.Copy("C", "A"), s.Copy("E", "B")).
		changed("A", func(t *s.Tensor) { t.Root = true })},
}

// normedMLP is an MLP of the norm of two tensors, one of which its sums add.
func normedMLP(residual string) form {
	return of("A[M K] E[M K] V[K] Up[F/D K] Down[K F/D] C[M K]", s.Copy("Y", "A", s.Add("E"), s.RMSNorm("V")),
		s.Linear("U", "Y", "Up"), s.Linear("C", "U", "Down", s.Add(residual)))
}

// sumBeside is two products whose sums all ranks get, the second with functions.
func sumBeside(first, second s.Way, then ...s.Func) form {
	tensors := "A[M K/D] E[P K/D] B[N K/D] C[M N] C2[P N]"
	if len(then) > 0 {
		tensors += " V[N]"
	}
	return of(tensors, s.Linear("C", "A", "B"), s.Linear("C2", "E", "B", then...)).by("C", first).by("C2", second).
		types(s.BF16, s.FP16)
}

// TestSweptFinds: both checkers accept them, as graphs too.
func TestSweptFinds(t *testing.T) {
	for _, x := range sweptFinds {
		b := lowering(lower.Lower).become(t, x.Schedule, []int{1, 2, 3, 4}, true)
		if b.wrong != "" || !b.proven || !b.graph {
			t.Errorf("%s: %+v", x.what, b)
		}
	}
}
