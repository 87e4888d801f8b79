package kernels

import (
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Few describes kernels of products of few rows, which differ by it alone. The order of their sums does not depend on
// it: a row has the same bits by each of them.
type Few struct {
	Rows   int // at most
	Tiles  int // of 16 columns, which a block has
	Ahead  int // steps of the depth by which weights are loaded before they are multiplied
	Near   int // the same of rows; it divides Ahead
	Beside int // blocks that have registers on a multiprocessor
}

// fews are all of them. A wider block reads the rows for more columns, and its sums take more registers.
var fews = []Few{
	{Rows: 8, Tiles: 1, Ahead: 8, Near: 4, Beside: 2},
	{Rows: 16, Tiles: 2, Ahead: 4, Near: 2, Beside: 2},
	{Rows: 32, Tiles: 2, Ahead: 3, Near: 1, Beside: 2},
	{Rows: 64, Tiles: 2, Ahead: 4, Near: 1, Beside: 1},
}

// Of a product of few rows: a block's threads, and what its depth and its columns are multiples of.
const (
	FewThreads  = 256
	fewDepth    = 256
	fewColumns  = 16
	fewMultiple = 2 * fewColumns
	fewSize     = 2 // bytes of an element
)

// FewRows are the kernels of products of few rows, in the order of the rows that they take.
func FewRows() (list []Kernel) {
	for i, f := range fews {
		list = append(list, Kernel{Kind: FewRowed, Number: i + 1, Few: f})
	}
	return list
}

// Groups of 8 rows.
func (f Few) Groups() int { return f.Rows / 8 }

// Blocks of a launch.
func (f Few) Blocks(columns int) int { return columns / (f.Tiles * fewColumns) }

// TakesFew reports whether kernels of few rows make a product: one of 1 to 64 rows and a weight, of elements of 16 bits.
func TakesFew(d driver.MatmulDesc) bool {
	return d.M > 0 && d.M <= fews[len(fews)-1].Rows && d.K%fewDepth == 0 && d.N%fewMultiple == 0 &&
		d.Type.Size() == fewSize && d.Of == 0 && d.Transposed && !d.TransposedA && !d.Accumulate && d.Func == ""
}

// few are the places of the parameters, in 64-bit words.
type few struct{ rows, depth, columns, a, b, bias int }

// multiply lays out the parameters behind the result's address.
func (l *layout) multiply(next func(words int) int) {
	l.few = few{next(1), next(1), next(1), next(1), next(1), next(1)}
}

// Linear sets c to a bᵀ, and a bias or plan.NoBias: by a kernel of few rows where one makes the product, else by the
// library of products.
func (s *Set) Linear(q *plan.Queue, on *plan.Stream, p *plan.Product, c, a, b, bias driver.Ptr) {
	d := p.Desc()
	i := slices.IndexFunc(s.kernels, func(k *kernel) bool { return k.Kind == FewRowed && d.M <= k.Few.Rows })
	if i < 0 || !TakesFew(d) {
		q.Linear(on, p, c, a, b, bias)
		return
	}
	k := s.kernels[i]
	if (a|b|bias)%16 != 0 {
		q.Fail(fmt.Errorf("multiply few rows: a, b, bias at %#x, %#x, %#x must be aligned to 16 bytes", a, b, bias))
		return
	}
	at, f := k.params, k.few
	at[k.dst], at[f.a], at[f.b], at[f.bias] = uint64(c), uint64(a), uint64(b), uint64(bias)
	at[f.rows], at[f.depth], at[f.columns] = uint64(d.M), uint64(d.K), uint64(d.N)
	k.enqueue(q, on, k.Few.Blocks(d.N), FewThreads)
}

// fewRows lists the touches of a launch.
func (x *launched) fewRows(typ driver.Type) {
	f, p := x.few, x.p
	use := func(kind driver.TouchKind, at uint64, elements uint64) {
		x.add(driver.Touch{Kind: kind, At: driver.Ptr(at), Bytes: int64(elements) * typ.Size(), Type: typ})
	}
	use(driver.TouchRead, p[f.a], p[f.rows]*p[f.depth])
	use(driver.TouchRead, p[f.b], p[f.columns]*p[f.depth])
	if p[f.bias] != 0 {
		use(driver.TouchRead, p[f.bias], p[f.columns])
	}
	use(driver.TouchWrite, p[x.dst], p[f.rows]*p[f.columns])
}
