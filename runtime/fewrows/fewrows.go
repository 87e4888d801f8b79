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
	Tiles  int // of 16 columns, which a block has
	Ahead  int // steps of the depth by which weights are loaded before they are multiplied
	Near   int // the same of rows; it divides Ahead
	Beside int // blocks that have registers on a multiprocessor
}

// Kernels are all of them. A wider block reads the rows for more columns, and its sums take more registers.
var Kernels = []Kernel{
	{Rows: 8, Tiles: 1, Ahead: 8, Near: 4, Beside: 2},
	{Rows: 16, Tiles: 2, Ahead: 4, Near: 2, Beside: 2},
	{Rows: 32, Tiles: 2, Ahead: 3, Near: 1, Beside: 2},
	{Rows: 64, Tiles: 2, Ahead: 4, Near: 1, Beside: 1},
}

// Threads of a block.
const Threads = 256

// most rows, and what the depth and the columns are multiples of.
const most, deep, wide = 64, 256, 32

// Takes reports whether a kernel makes a product: one of 1 to 64 rows and a weight, of elements of 16 bits.
func Takes(d driver.MatmulDesc) bool {
	return d.M > 0 && d.M <= most && d.K%deep == 0 && d.N%wide == 0 && d.Transposed &&
		d == (driver.MatmulDesc{M: d.M, K: d.K, N: d.N, Type: d.Type, Transposed: true, Bias: d.Bias}) && compiled(d.Type)
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

// Groups of 8 rows that a block has.
func (k Kernel) Groups() int { return k.Rows / 8 }

// Blocks of a launch.
func (k Kernel) Blocks(columns int) int { return columns / (16 * k.Tiles) }

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
				Touches: func(params unsafe.Pointer, to []driver.Touch) []driver.Touch {
					return (*Params)(params).touches(typ, to)
				}})
		}
	}
	return list
}

// touches appends what a launch reads and writes.
func (p *Params) touches(typ driver.Type, to []driver.Touch) []driver.Touch {
	use := func(kind driver.TouchKind, at driver.Ptr, elements uint64) {
		to = append(to, driver.Touch{Kind: kind, At: at, Bytes: int64(elements) * typ.Size(), Type: typ})
	}
	use(driver.TouchRead, p.A, p.Rows*p.Depth)
	use(driver.TouchRead, p.B, p.Columns*p.Depth)
	if p.Bias != plan.NoBias {
		use(driver.TouchRead, p.Bias, p.Columns)
	}
	use(driver.TouchWrite, p.To, p.Rows*p.Columns)
	return to
}

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
	q.Launch(on, s.kernels[slices.Index(Kernels, k)], driver.Dim3{X: uint32(k.Blocks(d.N)), Y: 1, Z: 1},
		driver.Dim3{X: Threads, Y: 1, Z: 1}, unsafe.Pointer(&s.params))
}
