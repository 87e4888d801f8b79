package served

import (
	"slices"
	"testing"

	s "ovgen/schedule"
)

// within declares that a tensor lies where another does.
func (f form) within(inner, outer string) form {
	return f.changed(inner, func(t *s.Tensor) { t.Within = outer })
}

// integers declares a tensor of integers.
func (f form) integers(name string) form {
	return f.changed(name, func(t *s.Tensor) { t.Type = s.I32 })
}

func (f form) changed(name string, change func(*s.Tensor)) form {
	f.Tensors = slices.Clone(f.Tensors)
	for i := range f.Tensors {
		if f.Tensors[i].Name == name {
			change(&f.Tensors[i])
		}
	}
	return f
}

// by is a kernel with so many blocks, and numbers.
func by(blocks string, args ...string) s.Kernel {
	return s.Kernel{File: "own.cu", Name: "own", Blocks: blocks, Args: args}
}

// cached is attention over a cache of P rows that grows in place, from a position on.
func cached(appends, reads s.Kernel) form {
	return of("A[M K] Wq[N/D K] Wk[N2/D K] Wo[K N/D] Position[1] Keys[P N2/D] Longer[P N2/D] C[M K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Key", "A", "Wk"),
		s.CallKernel("Longer", "Append", "pk,mk,o->pk", appends, "Keys", "Key", "Position"),
		s.CallKernel("O", "Attention", "mq,pk,o->mq", reads, "Q", "Longer", "Position"),
		s.Linear("C", "O", "Wo")).within("Longer", "Keys").integers("Position")
}

// kernels are chains with calls by kernels.
var kernels = []declared{
	{"attention by a kernel", "a gather before it and a sum behind it", of(
		"A[M/D K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M/D K]", append([]s.Op{
			projected[0], projected[1], projected[2], s.CallKernel("O", "Attention", "mq,mk,mk->mq",
				by("(M+63)/64*N/D", "M", "N/D", "128"), "Q", "Key", "V")}, projected[4:]...)...), served},
	{"a cache that grows in place", "its position is an integer", cached(by("M"), by("M", "P")), served},
	{"blocks by another extent", "nothing binds it", cached(by("N3"), by("M")),
		at("Ops[2].Kernel.Blocks", `"N3" has N3, which is no extent here`)},
	{"an argument that is none", "an exponent", cached(by("M"), by("M", "2**3")),
		at("Ops[3].Kernel.Args[0]", "has more than names")},
	{"no file", "a name alone", cached(s.Kernel{Name: "own"}, by("M")),
		at("Ops[2].Kernel.File", "the kernel is in no file")},
	{"too many threads", "of a block",
		cached(s.Kernel{File: "own.cu", Name: "own", Blocks: "M", Threads: 2048}, by("M")),
		at("Ops[2].Kernel.Threads", "no block has 2048 threads")},
	{"a position that a product takes", "of integers", cached(by("M"), by("M")).integers("Wq"),
		at("Tensors[1].Type", "only calls read tensors of integers")},
	{"a result of integers", "no call makes one", cached(by("M"), by("M")).integers("C"),
		at("Tensors[7].Type", "only calls read tensors of integers")},
	{"a sum in the place of an operand", "which is no call's", of("A[M K] W[N/D K] Wo[K N/D] C[M K]",
		s.Linear("H", "A", "W"), s.CallKernel("O", "Scale", "mn->mn", by("M"), "H"), s.Linear("C", "O", "Wo")).
		within("C", "A"), at("Tensors[3].Within", "their parts are of other rows or columns")},
	{"the same by one shot", "which does not cut the result", of("A[M K] W[N/D K] Wo[K N/D] C[M K]",
		s.Linear("H", "A", "W"), s.CallKernel("O", "Scale", "mn->mn", by("M"), "H"), s.Linear("C", "O", "Wo")).
		within("C", "A").by("C", s.Shot{}), served},
}

// TestKernels holds each chain with a kernel of the caller's against its verdict.
func TestKernels(t *testing.T) {
	for i := range kernels {
		d := &kernels[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}

// TestReplaced: an operand that a call has replaced is not there any more.
func TestReplaced(t *testing.T) {
	f := cached(by("M"), by("M"))
	f.Ops[3].In[1] = "Keys"
	d := declared{form: f, verdict: at("Ops[3].In[1]", "Ops[2] has made Longer in the place of Keys (leave Within out")}
	if _, err := d.holds(t); err != nil {
		t.Error(err)
	}
}
