package served

import (
	"fmt"
	"testing"

	s "ovgen/schedule"
	"ovgen/verify/sampling"
)

// attention is a call between products, and projected what is made of it.
var (
	attention = s.Call("O", "Attention", "mq,mk,mk->mq", "Q", "Key", "V")
	projected = []s.Op{s.Linear("Q", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("V", "A", "Wv"), attention,
		s.Linear("C", "O", "Wo", s.Add("A"))}
)

// ownProduct is a product of the caller's own.
var ownProduct = s.CallPartial("P", "MyGEMM", "mk,nk->mn", "A", "B")

// summandsOf is one with functions behind its sum.
func summandsOf(out string, then ...s.Func) s.Op {
	o := ownProduct
	o.Out, o.Then = out, then
	return o
}

func made(o s.Op, makes s.Makes) s.Op {
	o.Makes = makes
	return o
}

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
	{"a call of own rows, as it says", "nothing gathers them for it", of("A[M/D K] Norm[K] Wo[N/D K] C[M:D N/D]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.CallRows("Y", "Route", "mk->mk", "X"), s.Linear("C", "Y", "Wo")),
		served},
	{"a call of own rows between two sums", "the sum of own rows is its operand", of(
		"A[M K/D] B[N K/D] T[M/D N] B2[F/D N] B3[K F/D] C[M/D K]", s.Linear("H", "A", "B"),
		s.CallRows("H2", "Route", "mn,mn->mn", "H", "T"), s.Linear("G", "H2", "B2", s.GELU()),
		s.Linear("C", "G", "B3")), served},
	{"a result of own rows", "its placement says so", of("Q[M/D N] Key[M/D N] C[M/D N]", s.Copy("All", "Key"),
		s.Call("C", "Attention", "mq,nq->mq", "Q", "All")), served},
	{"own rows of what every rank has whole", "each would make the same rows", of("A[M K/D] B[N K/D] T[M/D N] C[M/D N]",
		s.Linear("H", "A", "B"), s.CallRows("X", "Route", "mn->mn", "T"), s.Call("H2", "All", "mn->mn", "H"),
		s.CallRows("C", "Route2", "mn,mn->mn", "X", "H2")),
		at("Ops[3].In[1]", "each rank has all rows of H2, and Route2 makes each rank's own")},
	{"own rows that every rank has", "every rank would make the same", of("A[M K] T[P] Wo[F/D K] C[P F/D]",
		s.CallRows("O", "Route", "mk,p->pk", "A", "T"), s.Linear("C", "O", "Wo")),
		at("Ops[0].In[1]", "each rank has all rows of T, and Route makes each rank's own")},
	{"own rows that no operand has", "nothing says whose", of("A[M K] O[P/D K] Wo[F/D K] C[P:D F/D]",
		s.CallRows("O", "Route", "mk->pk", "A"), s.Linear("C", "O", "Wo")),
		at("Ops[0].Index", "Route makes each rank's rows, and no operand has some")},
	{"own rows, and a part of their columns", "no rank makes all columns of its rows", of(
		"T[M/D N] S[N/D K] Wo[F/D N] C[M:D F/D]", s.CallRows("Y", "Scale", "mn,nk->mn", "T", "S"),
		s.Linear("C", "Y", "Wo")),
		at("Ops[0].In[1]", "each rank has a part of the rows of S, and Scale makes all of that axis")},
	{"a product of the caller's own", "each rank makes a summand", of("A[M K/D] B[N K/D] P[M/D N]", ownProduct),
		served},
	{"an own product in a layer", "with functions behind its sum", of(
		"A[M/D K] Up[F/D K] Down[N F/D] R[M/D N] Norm[N] C[M/D N]", s.Linear("H", "A", "Up", s.GELU()),
		s.CallPartial("P", "MyGEMM", "mk,nk->mn", "H", "Down"), s.Copy("C", "P", s.Add("R"), s.RMSNorm("Norm"))),
		served},
	{"an own product for all, and a layer behind it", "a tree stands at its sum", of(
		"A[M K/D] B[N K/D] R[M N] Norm[N] Up[F/D N] Down[K F/D] C[M K]", summandsOf("P", s.Add("R"), s.RMSNorm("Norm")),
		s.Linear("H", "P", "Up", s.ReLU()), s.Linear("C", "H", "Down")), served},
	{"an embedding that is spread by its words", "one operand has them", of("A[M] Table[N/D K] C[M K]",
		s.CallPartial("C", "Look", "nk,m->mk", "Table", "A")), served},
	{"summands of the caller's", "each rank's, and their sum", of("A[M K/D] B[N K/D] E[D/D M N] P[M/D N]",
		s.Call("E", "MyGEMM", "mk,nk->dmn", "A", "B"), s.Sum("P", "E")), served},
	{"an own product of whole operands", "each rank would make all", of("A[M K] B[N K] P[M/D N]", ownProduct),
		at("Ops[0].Index", "every rank has all of what MyGEMM sums over, so that nothing is to be added up")},
	{"an own product of one whole operand", "the other one has a part of what is summed over", of(
		"A[M K/D] B[N K] P[M/D N]", ownProduct), at("Ops[0].In[1]",
		"every rank has all of B, and MyGEMM sums over a part of another operand")},
	{"an own product of own rows", "it needs all", of("A[M/D K] B[N K/D] P[M/D N]", ownProduct),
		at("Ops[0].In[0]", "each rank has its own rows of A, and MyGEMM takes all")},
	{"an own product of columns", "they are no summands", of("A[M K/D] B[N/D K] P[M/D N]", ownProduct),
		at("Ops[0].In[1]", "each rank has a part of the rows of B, and MyGEMM makes all of that axis")},
	{"an index of other operands", "a product has two", of("A[M K/D] B[N K/D] P[M/D N]", s.CallPartial("P", "MyGEMM",
		"mk->mn", "A", "B")), at("Ops[0].Index", "is of 1 operands, and In has 2")},
	{"an index with ranks", "an own product has no such axis", of("A[M K/D] B[N K/D] P[M/D N]", s.CallPartial("P",
		"MyGEMM", "mk,nd->mn", "A", "B")), at("Tensors[1].Axes[1].Extent", "the mesh has D ranks, not K")},
	{"an operand that nobody has", "its name is wrong", of("A[M K/D] B[N K/D] P[M/D N]", s.CallPartial("P", "MyGEMM",
		"mk,nk->mn", "A", "Bs")), at("Tensors", "Ops[0] reads Bs, which nothing declares or makes")},
	{"summands that a product reads", "they are not added up", of("A[M K/D] B[N K/D] P[M/D N] Wo[F/D N] C[M F/D]",
		ownProduct, s.Linear("C", "Ppartial", "Wo")),
		at("Ops[1]", "each rank has a summand of its own in Ppartial, and C needs the sum")},
	{"summands that nothing adds up", "a function reads them", of("A[M K/D] B[N K/D] T[M N] C[M N]",
		s.Call("E", "MyGEMM", "mk,nk->dmn", "A", "B"), s.Copy("C", "T", s.Add("E"))),
		at("Ops[1]", "each rank has a summand of its own in E, and C needs the sum")},
	{"a call that makes what no call makes", "there are rows and summands", of("A[M K/D] B[N K/D] P[M/D N]",
		made(ownProduct, "half")), at("Ops[0].Makes", `no call makes "half"`)},
	{"a product that says what ranks make", "its placements do", of("A[M K/D] B[N K/D] P[M/D N]",
		made(s.Linear("P", "A", "B"), s.Summands)), at("Ops[0].Makes", "follows from the placements")},
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
	{"a call alone", "nothing travels", of("A[M K] B[N/D K] C[M N/D]", s.Call("C", "Mine", "mk,nk->mn", "A", "B")),
		at("Ops[0].Call", "nothing travels: Mine is the caller's own work (call it without a plan")},
	{"a call alone, whose rows are gathered", "no work moves them", of("A[M/D K] C[M K]",
		s.CallRows("C", "Mine", "mk->mk", "A")), at("Ops[0].Call", "no pass moves what Mine makes without an "+
		"operation (let it make another tensor, declared where its ranks make that, and make C of it by a "+
		"schedule.Copy")},
	{"the same, by a copy", "of rows that are declared", of("A[M/D K] X[M/D K] C[M K]",
		s.CallRows("X", "Mine", "mk->mk", "A"), s.Copy("C", "X")), served},
	{"of rows that are not declared", "they would be gathered behind the call", of("A[M/D K] C[M K]",
		s.CallRows("X", "Mine", "mk->mk", "A"), s.Copy("C", "X")),
		at("Ops[1]", "C is X as it is: nothing travels (declare X where its ranks make it")},
	{"a call alone of gathered rows", "it would take all", of("A[M/D K] C[M K]", s.Call("C", "Mine", "mk->mk", "A")),
		at("Ops[0].In[0]", "each rank has its own rows of A, and Mine takes all")},
	{"heads of a cache", "spread in the middle", of("A[M/D K] Cache[N2 N3/D K] B[N/D K] Wo[K N/D] C[M K]",
		s.Linear("Q", "A", "B"), s.Call("O", "Mine", "mn,stk->mn", "Q", "Cache"), s.Linear("C", "O", "Wo")), served},
}

// summing are the ways of an own product's sums.
var summing = map[string][]s.Way{
	"M/D": {nil, s.Slots{}, s.Slots{By: s.KernelCopies}, s.Shot{}, s.Shot{Signals: s.MemOps}, s.PushShot{},
		s.PushShot{Words: true}, s.NCCL{}},
	"M": {nil, s.Slots{}, s.Slots{Parts: 2}, s.Shot{}, s.TwoShot{}, s.PushShot{}, s.PushTwoShot{}, s.NCCL{}},
}

// TestOwnProductBy: each way of sums serves a product of the caller's own, alone and behind a layer.
func TestOwnProductBy(t *testing.T) {
	sampling.Test(t, 0, 3)
	for rows, ways := range summing {
		for _, way := range ways {
			for _, x := range []form{of("A[M K/D] B[N K/D] P["+rows+" N]", ownProduct),
				of("A[M/D K] Up[F/D K] Down[N F/D] R["+rows+" N] P["+rows+" N]", s.Linear("H", "A", "Up", s.GELU()),
					s.Op{Out: "P", In: []string{"H", "Down"}, Index: "mk,nk->mn", Call: "MyGEMM", Makes: s.Summands,
						Then: []s.Func{s.Add("R")}})} {
				if way != nil {
					x = x.by("P", way)
				}
				isCrossed(t, fmt.Sprintf("%s by %v", rows, way), x.Schedule, 1, 2, 4, 8)
			}
		}
	}
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
