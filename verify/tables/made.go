package tables

import (
	"cmp"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// elementsOf is the number of elements of an operand.
func (x *launched) elementsOf(o kernels.Operand) int64 {
	count, numbers := int64(x.p[x.At.Bytes]), x.p[x.At.Given:]
	if !x.Rowed() || count == 0 {
		return count
	}
	columns, rows := int64(numbers[0]), count
	if x.Kind == kernels.Groups {
		count *= columns
	} else {
		rows /= columns
	}
	switch o.Lies {
	case kernels.ByColumn:
		return columns
	case kernels.ByRow:
		return rows
	case kernels.ByHead:
		return int64(numbers[o.Head])
	case kernels.OfTable:
		return rows * int64(numbers[o.Head])
	}
	return count
}

// makes lists the touches of a function's launch.
func (x *launched) makes() {
	use := func(kind touch.Kind, at uint64, o kernels.Operand) {
		typ := cmp.Or(o.Type, x.Type)
		x.add(touch.Touch{Kind: kind, At: driver.Ptr(at), Bytes: typ.Bytes(int(x.elementsOf(o))), Type: typ})
	}
	use(touch.Read, x.p[x.At.Terms], x.Made.X)
	for i, o := range x.Made.Operands {
		use(touch.Read, x.p[x.At.Terms+1+i], o)
	}
	behind := x.At.Terms + 1 + len(x.Made.Operands)
	use(touch.Write, x.p[x.At.Dst], kernels.Operand{Type: x.Made.Type})
	switch typ := x.Made.Scales; {
	case typ != 0 && x.Made.Group > 0:
		heads := x.elementsOf(kernels.Operand{}) / int64(max(x.p[x.At.Given+x.Made.Group], 1))
		x.add(touch.Touch{Kind: touch.Write, At: driver.Ptr(x.p[behind]), Bytes: typ.Bytes(int(heads)), Type: typ})
	case typ != 0:
		left(x.p[behind], typ, use)
	}
	x.goesOn(behind, x.p[x.At.Dst], use)
}

// left adds the touch of scales of rows, of a type, at an address.
func left(at uint64, typ driver.Type, use func(kind touch.Kind, at uint64, o kernels.Operand)) {
	use(touch.Write, at, kernels.Operand{Lies: kernels.ByRow, Type: typ})
}

// goesOn lists the touches of further functions, whose parameters begin at first. Each reads the result at made, and
// writes the next.
func (x *launched) goesOn(first int, made uint64, use func(kind touch.Kind, at uint64, o kernels.Operand)) {
	for _, then := range x.Made.Then {
		use(touch.Read, made, then.X)
		for i, o := range then.Operands {
			use(touch.Read, x.p[first+1+i], o)
		}
		made = x.p[first]
		use(touch.Write, made, kernels.Operand{Type: then.Type})
		if first += 1 + len(then.Operands); then.Scales != 0 {
			left(x.p[first], then.Scales, use)
		}
	}
}

// makesRows adds the touches of a block that applies a function to its rows of the sum.
func (x *launched) makesRows(from, bytes int64) {
	columns := int64(x.p[x.At.Given])
	row := columns * x.Type.Size()
	begin, rows := from/row, bytes/row
	use := func(kind touch.Kind, at uint64, o kernels.Operand) {
		part := map[kernels.Lies][2]int64{kernels.InPlace: {begin * columns, rows * columns},
			kernels.ByColumn: {0, columns}, kernels.ByRow: {begin, rows}}[o.Lies] // elements
		typ := cmp.Or(o.Type, x.Type)
		x.add(touch.Touch{Kind: kind, At: driver.Ptr(at) + driver.Ptr(typ.Bytes(int(part[0]))),
			Bytes: typ.Bytes(int(part[1])), Type: typ})
	}
	use(touch.Read, x.p[x.At.Dst], kernels.Operand{})
	for i, o := range x.Made.Operands {
		use(touch.Read, x.p[x.At.Lands.Beside+i], o)
	}
	use(touch.Write, x.p[x.At.Lands.Made], kernels.Operand{Type: x.Made.Type})
	first := x.At.Lands.Beside + len(x.Made.Operands)
	if typ := x.Made.Scales; typ != 0 {
		left(x.p[first], typ, use)
	}
	x.goesOn(first, x.p[x.At.Lands.Made], use)
}
