package kernels

import (
	"slices"

	"ovgen/runtime/driver"
)

// layout is the place of each of a kernel's parameters, in 64-bit words: addresses and
// numbers alike. The struct in the .cu has them in this order.
type layout struct {
	Kernel
	lists [4]list // prePost, preWait, postPost, postWait
	count int     // how many words each list that may vary has
	step  int     // address of the stream's step word
	value int     // the value for that word
	away  int     // words from a block's to the next one's, by blocks
	block int     // address of the word in which blocks count themselves; by blocks their number
	dst   int     // address
	src   int     // address, of a copy
	bytes int     // of a copy, and of each tensor of a gather; elements of a sum or a function
	n     int     // how many terms, or tensors, where that varies
	terms int     // the first one's address
	rows  int     // the first one's address
	wide  int     // elements that each of them has
	tiled tiled   // of a product
	lands landing // of packets
	given int     // the first number of a function
	size  int     // of all
}

// Places of words around the work.
const (
	prePost = iota
	preWait
	postPost
	postWait
)

// list is one list of addresses of words: where it starts, and how long it may be.
type list struct{ at, most int }

// words are how many words the kernel has at each place.
func (k Kernel) words() [4]Words { return [4]Words{k.PrePost, k.PreWait, k.PostPost, k.PostWait} }

// Waits reports whether the kernel awaits words.
func (k Kernel) Waits() bool { return k.PreWait != 0 || k.PostWait != 0 || k.Lands() }

func (t *Table) layout(k Kernel) layout {
	l := layout{Kernel: k}
	next := func(words int) (at int) {
		at = l.size
		l.size += words
		return at
	}
	if k.Multiplies() {
		l.tiled.maps = next(k.maps() * len(driver.TensorMap{}))
	}
	all := k.words()
	for i, words := range all {
		n := int(words)
		if words == EachPeer {
			n = t.Peers
		}
		l.lists[i] = list{next(n), n}
	}
	if slices.Contains(all[:], EachPeer) {
		l.count = next(1)
	}
	if k.Waits() {
		l.step, l.value = next(1), next(1)
	}
	if k.ByBlocks && !k.Lands() {
		l.away = next(1)
	}
	if k.Signals() {
		l.block = next(1)
	}
	if k.Copies() {
		l.dst, l.src, l.bytes = next(1), next(1), next(1)
	}
	if k.Computes() && !k.Multiplies() || k.Gathers() || k.Lands() {
		l.dst, l.bytes = next(1), next(1)
		if k.Makes() && !k.Lands() {
			l.terms, l.given = next(len(k.Made.Operands)), next(k.numbers())
			return l
		}
		if k.Varies {
			l.n = next(1)
		}
		l.terms = next(k.Terms)
		if k.Rows > 0 {
			l.rows, l.wide = next(k.Rows), next(1)
		}
		if k.Lands() {
			l.land(next)
		}
	}
	if k.Multiplies() {
		l.tile(next)
	}
	return l
}
