package served

import (
	"testing"

	s "ovgen/schedule"
)

// attention is a call between products, and projected what is made of it.
var (
	attention = s.Call("O", "Attention", "mq,mk,mk->mq", "Q", "Key", "V")
	projected = []s.Op{s.Linear("Q", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("V", "A", "Wv"), attention,
		s.Linear("C", "O", "Wo", s.Add("A"))}
)

// calls are chains with work of the caller's own.
var calls = []declared{
	{"sequence-parallel attention", "a gather, three products, attention, a sum", of(
		"A[M/D K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M/D K]", projected...), served},
	{"tensor-parallel attention", "all rows on every rank", of(
		"A[M K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M K]", projected...), served},
	{"attention at decoding", "by one kernel", of("A[M K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M K]",
		projected...).by("C", s.Shot{}), served},
	{"a sum by one kernel behind a gather", "its peers' posts come before it", of(
		"A[M/D K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M/D K]", projected...).by("C", s.Shot{}), served},
	{"a sum by one kernel behind a gather, signalled by the host", "it waits for nobody", of(
		"A[M/D K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M/D K]", projected...).
		by("C", s.Shot{Signals: s.MemOps}), served},
	{"fewer heads of key and value than ranks", "each rank has them whole, of rows that are gathered for them", of(
		"A[M/D K] Wq[N/D K] Wk[N2 K] Wv[N2 K] Wo[K N/D] C[M/D K]", projected...), served},
	{"what attention makes is the caller's", "and so is the query", of(
		"A[M/D K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M/D K] Q[M:D N/D] O[M N/D]", projected...), served},
	{"one product for all heads", "the result has columns of its own", of(
		"A[M/D K] W[N/D K] P[M] O[M N2/D] Wo[K N2/D] C[M/D K]", s.Linear("H", "A", "W"),
		s.Call("O", "Attention", "mn,m->mh", "H", "P"), s.Linear("C", "O", "Wo")), served},
	{"a call of own rows", "nothing gathers them", of("A[M/D K] Norm[K] Wo[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.Call("Y", "Route", "mk->mk", "X"), s.Linear("C", "Y", "Wo")),
		at("Ops[1].In[0]", "each rank has its own rows of X, and Route takes all")},
	{"a result whose columns nothing says", "the letter is no operand's", of(
		"A[M/D K] W[N/D K] Wo[K N2/D] C[M/D K]", s.Linear("H", "A", "W"), s.Call("O", "Attention", "mn->mh", "H"),
		s.Linear("C", "O", "Wo")), at("Ops[1].Index", "nothing says how long the axis h of O is")},
	{"a name that no field has", "lower case", of("A[M/D K] W[N/D K] Wo[K N/D] C[M/D K]", s.Linear("H", "A", "W"),
		s.Call("O", "attention", "mn->mn", "H"), s.Linear("C", "O", "Wo")),
		at("Ops[1].Call", `"attention" is no name of a plan's field`)},
	{"two calls of one name", "a plan has one field", of("A[M/D K] W[N/D K] Wo[K N/D] C[M/D K]",
		s.Linear("H", "A", "W"), s.Call("O", "Attention", "mn->mn", "H"), s.Call("Z", "Attention", "mn->mn", "O"),
		s.Linear("C", "Z", "Wo")), at("Ops[2].Call", "Ops[1] is called Attention already")},
	{"rows that a weight has too", "what attention takes makes them one", of(
		"A[M/D K] Norm[K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M/D K]", append([]s.Op{
			s.Copy("X", "Wv", s.RMSNorm("Norm")), s.Linear("Q", "X", "Wq"), s.Linear("Key", "X", "Wk"),
			s.Linear("V", "X", "Wv")}, projected[3:]...)...),
		at("Tensors[4].Axes[0].Extent", `extent "N2" where A has "M"`)},
	{"a function behind a call", "it has no kernel there", of("A[M/D K] W[N/D K] Wo[K N/D] C[M/D K]",
		s.Linear("H", "A", "W"), s.Op{Out: "O", In: []string{"H"}, Index: "mn->mn", Call: "Attention",
			Then: []s.Func{s.SiLU()}}, s.Linear("C", "O", "Wo")),
		at("Ops[1].Then", "what a call makes has no functions behind it")},
}

// TestCalls holds each chain with a call against its verdict.
func TestCalls(t *testing.T) {
	for i := range calls {
		d := &calls[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}
