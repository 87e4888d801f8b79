// Package fewrows launches emitted kernels for products of few rows by a weight, and of any rows by a weight of eight
// bits. Packages whose schedule asks for these products import it.
package fewrows

import (
	"fmt"
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Kernel describes one of the kernels. The order of sums does not depend on the kernel: every kernel gives a row the
// same bits.
type Kernel struct {
	Rows   int  // most rows of a product, or rows of a tile
	Parts  int  // most parts of a tile, of 16 columns each
	Ahead  int  // steps of the depth whose copies are under way
	Beside int  // blocks that have room on a multiprocessor
	Narrow bool // the weight has eight bits, e4m3
	// Squares says that such a weight has a scale for each square of 128 x 128, not for each row.
	Squares bool
	Early   bool // it may start, and read the weight, before the launch ahead of it has ended
	Boxes   bool // uses instructions of compute capability 9.0 alone; Ahead counts stages, and tiles have 64 columns
	// Function is applied to each element of the result; nil: the kernel stores the result as it is.
	Function *Function
}

// Family is the kernels for one kind of weight, sorted by their rows. A wider tile reads the rows for more columns, and
// its sums take more registers.
type Family []Kernel

// Kernels is the family for weights of the rows' type.
var Kernels = Family{
	{Rows: 8, Parts: 2, Ahead: 9, Beside: 1},
	{Rows: 16, Parts: 4, Ahead: 4, Beside: 1},
	{Rows: 32, Parts: 8, Ahead: 2, Beside: 1},
	{Rows: 64, Parts: 4, Ahead: 3, Beside: 1},
}

// Narrow is the family for weights of eight bits.
var Narrow = Family{
	{Rows: 8, Parts: 2, Ahead: 4, Beside: 2, Narrow: true},
	{Rows: 16, Parts: 4, Ahead: 4, Beside: 1, Narrow: true},
	{Rows: 32, Parts: 4, Ahead: 3, Beside: 1, Narrow: true},
	{Rows: 64, Parts: 4, Ahead: 2, Beside: 1, Narrow: true},
}

// Squares is the family for weights of eight bits with scales of squares.
var Squares = Narrow.squares()

// squares are the same kernels for such scales. The sums of a square take registers of their own, so the widest tile
// has a part less.
func (f Family) squares() Family {
	f = slices.Clone(f)
	for i := range f {
		f[i].Squares = true
	}
	f[len(f)-1].Parts--
	return f
}

// UpTo returns the kernels of at most the given rows.
func (f Family) UpTo(rows int) Family {
	return slices.DeleteFunc(slices.Clone(f), func(k Kernel) bool { return k.Rows > rows })
}

// boxes are the kernels with Boxes, by their rows. They have as many stages as a multiprocessor has room for.
var boxes = map[int]Kernel{
	16: {Rows: 16, Parts: boxParts, Ahead: 11, Beside: 1, Early: true, Boxes: true},
	32: {Rows: 32, Parts: boxParts, Ahead: 9, Beside: 1, Early: true, Boxes: true},
	64: {Rows: 64, Parts: boxParts, Ahead: 6, Beside: 1, Early: true, Boxes: true},
}

// Early returns the kernels that read their weight before the launch ahead of them has ended: the same kernels, or
// kernels with Boxes for as many rows.
func (f Family) Early() Family {
	early := f.early()
	for i, k := range f {
		if boxed, ok := boxes[k.Rows]; ok && !k.Narrow {
			boxed.Function = k.Function
			early[i] = boxed
		}
	}
	return early
}

// EarlyInTiles is Early without Boxes, whose kernels make one tile of rows: these make any number of rows.
func (f Family) EarlyInTiles() Family {
	return slices.DeleteFunc(f.early(), func(k Kernel) bool { return !k.Early })
}

// early are the same kernels. The kernel of 16 rows whose blocks share multiprocessors is not Early: where it has few
// blocks, the blocks of the next launch take their room, and it took 1.4 times as long.
func (f Family) early() Family {
	early := slices.Clone(f)
	for i, k := range f {
		early[i].Early = k.Rows == 8 || k.Beside == 1
	}
	return early
}

// Threads of a block.
func (k Kernel) Threads() int {
	if k.Boxes {
		return 192
	}
	return threads
}

// threads of a block without Boxes.
const threads = 256

// The depth of a product is a multiple of deep, the number of columns a multiple of wide.
const deep, wide = 256, 64

// Takes reports whether a kernel makes a product: its number of rows and its weight fit, and its elements have 16 bits.
// A product in order may have any number of rows, since the library would add in another order; kernels with Boxes make
// one tile of them. If the product has a function, the kernels have it too.
func (f Family) Takes(d driver.MatmulDesc) bool {
	last := f[len(f)-1]
	few := d.M <= last.Rows || d.InOrder && !last.Boxes
	return d.M > 0 && few && d.K%deep == 0 && d.N%wide == 0 && compiled(d.Type) &&
		d == (driver.MatmulDesc{M: d.M, K: d.K, N: d.N, Type: d.Type, Transposed: true, Bias: d.Bias, Func: d.Func,
			InOrder: d.InOrder})
}

// compiled reports whether there are kernels for a type.
func compiled(typ driver.Type) bool { return typ.Size() == 2 }

// Types returns the types of a list for which there are kernels.
func Types(list []driver.Type) []driver.Type {
	return slices.DeleteFunc(slices.Clone(list), func(typ driver.Type) bool { return !compiled(typ) })
}

// Of returns the kernel without a function for the given rows; for more rows than any kernel has, the last kernel,
// which makes several tiles unless it has Boxes.
func (f Family) Of(rows int) Kernel { return f[f.of(0, rows)] }

// of is the place of the kernel with a function, by its number; -1: there is none.
func (f Family) of(number, rows int) int {
	last := -1
	for i, k := range f {
		if k.Function.number() != number {
			continue
		}
		if last = i; rows <= k.Rows {
			break
		}
	}
	return last
}

// Base is the kernel's name in PTX without the element type; Name includes the type.
func (k Kernel) Base() string {
	switch {
	case k.Squares:
		return fmt.Sprintf("squares%d", k.Rows)
	case k.Narrow:
		return fmt.Sprintf("narrow%d", k.Rows)
	}
	return fmt.Sprintf("fewrows%d", k.Rows)
}
func (k Kernel) Name(typ driver.Type) string {
	if k.Function != nil {
		return k.Base() + "_" + k.Function.Name() + "_" + typ.String()
	}
	return k.Base() + "_" + typ.String()
}

// Weight is the name of the weight's elements in device code.
func (k Kernel) Weight() string {
	switch {
	case k.Squares:
		return "squared"
	case k.Narrow:
		return "coded"
	}
	return "plain"
}

// Makes is the name of the kernel's function in device code.
func (k Kernel) Makes() string {
	if k.Function == nil {
		return "as_it_is"
	}
	return k.Function.Name()
}

// Groups is the number of groups of 8 rows of a tile.
func (k Kernel) Groups() int { return k.Rows / 8 }

// Shared is the shared memory of a block: the units of 16 bytes of its threads in each step. For each 16 bytes of codes
// there are two units of a row.
func (k Kernel) Shared() int {
	if k.Boxes {
		return k.boxShared()
	}
	rows := k.Groups()
	if k.Narrow {
		rows *= 2
	}
	return k.Ahead * (2*k.Parts + rows) * threads * 16
}

// Blocks is the number of blocks of a launch, which divide the parts: at most one for each part, and at most as many as
// run at the same time.
func (k Kernel) Blocks(rows, columns, multiprocessors int) int {
	parts := (columns + 15) / 16 * ((rows + k.Rows - 1) / k.Rows)
	if k.Boxes {
		return cluster * max(1, min(parts, multiprocessors/cluster))
	}
	return max(1, min(parts, k.Beside*multiprocessors))
}

// Params are a launch's parameters: addresses and numbers, in the order of the struct in the .cu.
type Params struct {
	To                   driver.Ptr
	Rows, Depth, Columns uint64
	A, B, Bias           driver.Ptr
	Scale                driver.Ptr // of a weight of eight bits
	Scales               uint64     // number of scales: one, or one for each column, or for each square
	Making
}

// Code lists the kernels as a driver loads them, for a package of these types.
func (f Family) Code(types []driver.Type) (list []driver.Kernel) {
	for _, typ := range Types(types) {
		for _, k := range f {
			code := driver.Kernel{Name: k.Name(typ), Params: int(unsafe.Sizeof(Params{})), Shared: k.Shared(),
				Early: k.Early, Ahead: k.Early, Form: k.Function.form(),
				Row: Row{typ, k.Rows, k.Narrow, k.Boxes, k.Function}}
			switch {
			case k.Early:
				code.From = 90
			case k.Narrow:
				code.From = 89 // an instruction widens codes
			}
			if k.Boxes {
				code.Params, code.Cluster, code.Only = int(unsafe.Sizeof(Boxed{})), cluster, 90
			}
			list = append(list, code)
		}
	}
	return list
}

// Row is the Row of a driver.Kernel of this package: the type of its elements, the kernel's Rows, whether the weight
// has eight bits, whether its parameters are Boxed, and its function.
type Row struct {
	Type          driver.Type
	Rows          int
	Narrow, Boxes bool
	Function      *Function
}

// MostRows is the kernel's Rows, by which package tuning tells kernels of products apart.
func (r Row) MostRows() int { return r.Rows }

// Params are a launch's parameters, given the address of all of them.
func (r Row) Params(all unsafe.Pointer) *Params {
	if r.Boxes {
		return &(*Boxed)(all).Params
	}
	return (*Params)(all)
}

// Set is the kernels of a family that one plan launches.
type Set struct {
	family  Family
	kernels []*plan.Kernel // in the order of the family; none where there are none for the plan's type
	params  Boxed          // of the launch that is being enqueued
}

// Declare declares the kernels to a builder of a plan.
func (f Family) Declare(b *plan.Builder, typ driver.Type) *Set {
	s := &Set{family: f}
	if compiled(typ) {
		for _, k := range f {
			s.kernels = append(s.kernels, b.Kernel(k.Name(typ)))
		}
	}
	return s
}

// Linear sets c to a bᵀ plus a bias, unless bias is plan.NoBias: by a kernel that takes the product, else by the
// library.
func (s *Set) Linear(q *plan.Queue, on *plan.Stream, p *plan.Product, c, a, b, bias driver.Ptr) {
	if s.Takes(p) {
		s.launch(q, on, s.family.of(0, p.Desc().M), p.Desc(), Params{To: c, A: a, B: b, Bias: bias})
	} else {
		q.Linear(on, p, c, a, b, bias)
	}
}

// Takes reports whether a kernel makes a product.
func (s *Set) Takes(p *plan.Product) bool { return s.family.Takes(p.Desc()) }

// oneTile is how many columns the 132 multiprocessors of an H100 or H200 make by one tile each.
const oneTile = 132 * 64

// Makes reports whether a kernel with a function makes a product.
func (s *Set) Makes(p *plan.Product) bool { return s.family.makes(p.Desc()) }

// makes is Makes of a product. Where a block has several tiles of more than 8 rows
// the functions of one tile hold up the next, and a kernel of elements behind the product is faster
// (docs/performance.md), if the family has one for the product alone; an epilogue stays in the product's kernel.
func (f Family) makes(d driver.MatmulDesc) bool {
	return f.Takes(d) && (d.M <= 8 || d.N <= oneTile || d.Func != "" || f.of(0, d.M) < 0)
}

// Narrow sets C to A Bᵀ times the scales of B, plus a bias. Only B has the type d.Of, e4m3; all other tensors have
// d.Type.
func (s *Set) Narrow(q *plan.Queue, on *plan.Stream, d driver.MatmulDesc, x driver.Operands) {
	s.launch(q, on, s.family.of(0, d.M), d, narrow(d, x))
}

// square is the number of rows, and of columns, of a weight that have one scale where scales are of squares.
const square = 128

// narrow are the parameters of a product by a weight of eight bits.
func narrow(d driver.MatmulDesc, x driver.Operands) Params {
	p := Params{To: x.C, A: x.A, B: x.B, Bias: x.Bias, Scale: x.ScaleB, Scales: 1}
	if d.RowScales {
		p.Scales = uint64(d.N)
	}
	if d.BlockScales {
		p.Scales = uint64(d.N / square * (d.K / square))
	}
	return p
}

// launch launches a kernel of the family, by its place, for a product.
func (s *Set) launch(q *plan.Queue, on *plan.Stream, of int, d driver.MatmulDesc, p Params) {
	if of < 0 || s.family[of].Function.epilogue() != string(d.Func) {
		q.Fail(fmt.Errorf("multiply few rows: the package has no such kernel with function %q", d.Func))
		return
	}
	if (p.A|p.B)%16 != 0 {
		q.Fail(fmt.Errorf("multiply few rows: a and b at %#x and %#x must be aligned to 16 bytes", p.A, p.B))
		return
	}
	k := s.family[of]
	if k.Boxes && d.M > k.Rows {
		q.Fail(fmt.Errorf("multiply few rows: %d rows, and the kernel makes one tile of %d", d.M, k.Rows))
		return
	}
	blocks := k.Blocks(d.M, d.N, q.Multiprocessors())
	s.params.Params = p
	s.params.Rows, s.params.Depth, s.params.Columns = uint64(d.M), uint64(d.K), uint64(d.N)
	params := unsafe.Pointer(&s.params.Params)
	if k.Boxes {
		params = unsafe.Pointer(&s.params)
		s.params.Box(k, d.Type, blocks, func(to *driver.TensorMap, m driver.TensorMapDesc) { q.TensorMap(to, m) })
	}
	q.Launch(on, s.kernels[of], driver.Dim3{X: uint32(blocks), Y: 1, Z: 1},
		driver.Dim3{X: uint32(k.Threads()), Y: 1, Z: 1}, params)
}
