package kernels

import (
	"slices"

	"ovgen/runtime/driver"
)

// Row is the description of a driver.Kernel that comes from a Table: the places of its parameters, and the elements for
// which it is compiled.
type Row struct {
	Layout
	Type driver.Type
}

// Layout is a kernel with the places of its parameters.
type Layout struct {
	Kernel
	At Places
}

// Places are the places of a kernel's parameters, in 64-bit words: addresses and numbers alike. The struct in the .cu
// has them in this order.
type Places struct {
	Lists  [4]List // by PrePost, PreWait, PostPost, PostWait
	Count  int     // number of words of each list whose length may vary
	Step   int     // address of the stream's step word
	Value  int     // the value for that word
	Away   int     // by blocks: words from a block's word to the next block's word
	Block  int     // address of the word in which blocks count themselves; by blocks the number of blocks
	Dst    int     // address
	Src    int     // address, of a copy
	Bytes  int     // of a copy, and of each tensor of a gather; elements of a sum or a function
	N      int     // number of terms or tensors, where it may vary
	Terms  int     // address of the first term
	Scaled int     // columns of a term for each scale
	Tiled  Tiled   // of the tiles of a product
	Lands  Landing // of packets
	Given  int     // the first number of a function
	Finish int     // of the function of each element of a sum: its first operand; its numbers follow its operands
	Size   int     // words of all parameters
}

// Places of words around the work.
const (
	PrePost = iota
	PreWait
	PostPost
	PostWait
)

// List is a list of addresses of words: its place, and its greatest length.
type List struct{ At, Most int }

// Words returns the number of words that the kernel has at each place.
func (k Kernel) Words() [4]Words { return [4]Words{k.PrePost, k.PreWait, k.PostPost, k.PostWait} }

// Waits reports whether the kernel awaits words.
func (k Kernel) Waits() bool { return k.PreWait != 0 || k.PostWait != 0 || k.Lands() }

// terms lays out the addresses of the terms of a sum, or of the tensors of a gather.
func (l *Layout) terms(next func(words int) int) {
	l.At.Terms = next(l.Terms)
	if l.Coded != 0 {
		l.At.Scaled = next(1)
	}
}

// finish lays out the parameters of the function of each element of a sum.
func (l *Layout) finish(next func(words int) int) {
	if l.Finish != nil {
		l.At.Finish = next(l.Finish.beside() + l.Finish.counts(false))
	}
}

func (t *Table) layout(k Kernel) Layout {
	l := Layout{Kernel: k}
	next := func(words int) (at int) {
		at = l.At.Size
		l.At.Size += words
		return at
	}
	if k.Multiplies() {
		l.At.Tiled.Maps = next(k.maps() * len(driver.TensorMap{}))
	}
	all := k.Words()
	for i, words := range all {
		n := int(words)
		if words == EachPeer {
			n = t.Peers
		}
		l.At.Lists[i] = List{next(n), n}
	}
	if slices.Contains(all[:], EachPeer) {
		l.At.Count = next(1)
	}
	if k.Waits() {
		l.At.Step, l.At.Value = next(1), next(1)
	}
	if k.ByBlocks && !k.Lands() {
		l.At.Away = next(1)
	}
	if k.Signals() {
		l.At.Block = next(1)
	}
	if k.Copies() {
		l.At.Dst, l.At.Src, l.At.Bytes = next(1), next(1), next(1)
	}
	if k.Computes() && !k.Multiplies() || k.Gathers() || k.Lands() {
		l.At.Dst, l.At.Bytes = next(1), next(1)
		if k.Makes() && !k.Lands() {
			l.At.Terms, l.At.Given = next(1+k.Made.beside()), next(k.numbers())
			return l
		}
		if k.Varies {
			l.At.N = next(1)
		}
		if k.Lands() {
			k.Kind.row().sends.lay(&l, next)
		} else {
			l.terms(next)
			l.finish(next)
		}
	}
	if k.Multiplies() {
		l.tile(next)
	}
	return l
}
