// Package fewrows launches an emitted kernel for products of few rows by a weight. Packages whose schedule asks for it
// import it.
package fewrows

import (
	"fmt"
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Kernel describes one of the kernels. The order of sums does not depend on it: a row has the same bits by each.
type Kernel struct {
	Rows   int // at most
	Parts  int // of 16 columns, which a tile has
	Ahead  int // steps of the depth whose copies are under way
	Beside int // blocks that have room on a multiprocessor
}

// Kernels are all of them. A wider tile reads the rows for more columns, and its sums take more registers.
var Kernels = []Kernel{
	{Rows: 8, Parts: 1, Ahead: 8, Beside: 2},
	{Rows: 16, Parts: 2, Ahead: 4, Beside: 2},
	{Rows: 32, Parts: 4, Ahead: 4, Beside: 1},
	{Rows: 64, Parts: 4, Ahead: 3, Beside: 1},
}

// Threads of a block.
const Threads = 256

// most rows, and what the depth and the columns are multiples of.
const most, deep, wide = 64, 256, 64

// Takes reports whether a kernel makes a product: one of 1 to 64 rows and a weight, of elements of 16 bits.
func Takes(d driver.MatmulDesc) bool {
	return d.M > 0 && d.M <= most && d.K%deep == 0 && d.N%wide == 0 && d.Transposed &&
		d == (driver.MatmulDesc{M: d.M, K: d.K, N: d.N, Type: d.Type, Transposed: true, Bias: d.Bias}) &&
		compiled(d.Type)
}

// compiled says that there are kernels for a type.
func compiled(typ driver.Type) bool { return typ.Size() == 2 }

// Types are those of a list for which there are kernels.
func Types(list []driver.Type) []driver.Type {
	return slices.DeleteFunc(slices.Clone(list), func(typ driver.Type) bool { return !compiled(typ) })
}

// Of is the kernel for so many rows.
func Of(rows int) Kernel {
	return Kernels[slices.IndexFunc(Kernels, func(k Kernel) bool { return rows <= k.Rows })]
}

// Base is the kernel's name in PTX but for the element type, and Name is with it.
func (k Kernel) Base() string                { return fmt.Sprintf("fewrows%d", k.Rows) }
func (k Kernel) Name(typ driver.Type) string { return k.Base() + "_" + typ.String() }

// Groups of 8 rows that a tile has.
func (k Kernel) Groups() int { return k.Rows / 8 }

// Shared is the memory of a block: the units of 16 bytes that its threads have in each step.
func (k Kernel) Shared() int { return k.Ahead * (2*k.Parts + k.Groups()) * Threads * 16 }

// Blocks of a launch: no more than run at the same time.
func (k Kernel) Blocks(columns, multiprocessors int) int {
	return max(1, min(columns/(16*k.Parts), k.Beside*multiprocessors))
}

// Params are a launch's parameters: addresses and numbers, as the struct in the .cu has them.
type Params struct {
	To                   driver.Ptr
	Rows, Depth, Columns uint64
	A, B, Bias           driver.Ptr
}

// Code lists the kernels as a driver loads them, for a package of these types.
func Code(types []driver.Type) (list []driver.Kernel) {
	for _, typ := range Types(types) {
		for _, k := range Kernels {
			list = append(list, driver.Kernel{Name: k.Name(typ), Params: int(unsafe.Sizeof(Params{})),
				Shared: k.Shared(), Row: Row(typ)})
		}
	}
	return list
}

// Row is the Row of a driver.Kernel here: the type of its elements.
type Row driver.Type

// Set is the kernels that one plan launches.
type Set struct {
	kernels []*plan.Kernel // as Kernels lists them; none where the plan's type has none
	params  Params         // of the launch that is being enqueued
}

// Declare tells a builder of a plan which kernels it launches.
func Declare(b *plan.Builder, typ driver.Type) *Set {
	s := &Set{}
	if compiled(typ) {
		for _, k := range Kernels {
			s.kernels = append(s.kernels, b.Kernel(k.Name(typ)))
		}
	}
	return s
}

// Linear sets c to a bᵀ, and a bias or plan.NoBias: by a kernel that takes the product, else by the library.
func (s *Set) Linear(q *plan.Queue, on *plan.Stream, p *plan.Product, c, a, b, bias driver.Ptr) {
	d := p.Desc()
	if !Takes(d) {
		q.Linear(on, p, c, a, b, bias)
		return
	}
	if (a|b)%16 != 0 {
		q.Fail(fmt.Errorf("multiply few rows: a and b at %#x and %#x must be aligned to 16 bytes", a, b))
		return
	}
	k := Of(d.M)
	s.params = Params{c, uint64(d.M), uint64(d.K), uint64(d.N), a, b, bias}
	q.Launch(on, s.kernels[slices.Index(Kernels, k)],
		driver.Dim3{X: uint32(k.Blocks(d.N, q.Multiprocessors())), Y: 1, Z: 1},
		driver.Dim3{X: Threads, Y: 1, Z: 1}, unsafe.Pointer(&s.params))
}
