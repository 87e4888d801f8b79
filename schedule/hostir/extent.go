package hostir

import (
	"strconv"

	"ovgen/schedule"
)

// Extent is the expression of an extent: a symbol, a constant, or an extent made of others.
func Extent(e schedule.Extent) Expr {
	if n, err := strconv.ParseInt(string(e), 10, 64); err == nil {
		return Const(n)
	}
	if of, columns, ok := e.Blocks(); ok {
		return Div(Extent(of), Const(columns))
	}
	if batches, rows, ok := e.Factors(); ok {
		return Mul(Extent(batches), Extent(rows))
	}
	return Var(string(e))
}

// Elements counts the elements of a rank's part of a tensor.
func Elements(t schedule.Tensor) Expr {
	return Volume(t, func(_ int, s schedule.Split) bool { return s.Kind == schedule.DeviceX })
}

// PartOfFirst counts the elements of one part of a tensor's first axis, or all without parts.
func PartOfFirst(t schedule.Tensor) Expr {
	return Volume(t, func(axis int, s schedule.Split) bool { return axis == 0 || s.Kind == schedule.DeviceX })
}

// Volume multiplies the extents of a tensor, each divided by the splits for which cut is true.
func Volume(t schedule.Tensor, cut func(axis int, s schedule.Split) bool) Expr {
	var n Expr
	for i, a := range t.Axes {
		e, by := Extent(a.Extent), Expr{}
		for _, s := range a.Outer {
			if !cut(i, s) {
				continue
			}
			if s.Count == a.Extent {
				e = Const(1)
				continue
			}
			by = Times(by, Extent(s.Count))
		}
		if !by.IsZero() {
			e = Div(e, by)
		}
		n = Times(n, e)
	}
	return n
}

// Times multiplies two expressions; an absent factor counts as 1.
func Times(x, y Expr) Expr {
	switch one := Const(1); {
	case x.IsZero(), x.Equal(one):
		return y
	case y.Equal(one):
		return x
	}
	return Mul(x, y)
}
