package schedule

import (
	"maps"
	"math"
	"slices"
)

// library has the tree of each named function, of its operands.
var library = map[FuncKind]entry{
	AddBias:      {1, func(in []string) Expr { return Plus(X, Row(in[0])) }},
	AddTensor:    {1, func(in []string) Expr { return Plus(X, Of(in[0])) }},
	ApplyReLU:    {0, func([]string) Expr { return Greatest(X, Num(0)) }},
	ApplyGELU:    {0, func([]string) Expr { return gelu() }},
	ApplySiLU:    {0, func([]string) Expr { return logistic(1) }},
	ApplySwiGLU:  {1, func(in []string) Expr { return Times(logistic(1), Of(in[0])) }},
	ApplyGeGLU:   {1, func(in []string) Expr { return Times(gelu(), Of(in[0])) }},
	ApplyRMSNorm: {1, func(in []string) Expr { return Times(normed(X), Row(in[0])) }},
	ApplyLayerNorm: {2, func(in []string) Expr {
		return Plus(Times(normed(Minus(X, Mean(X))), Row(in[0])), Row(in[1]))
	}},
	ApplyRotary:   {1, func(in []string) Expr { return turnedBy(in[0]) }},
	ApplyFromFP32: {0, func([]string) Expr { return X }}, // of tensors of other types; the result is rounded
	ApplyToFP32:   {0, func([]string) Expr { return X }},
}

// entry is a tree, and how many operands it is of.
type entry struct {
	operands int
	tree     func(in []string) Expr
}

// Tree is what the function does to X. An unknown one, or one without its operands, leaves X as it is.
func (f Func) Tree() Expr {
	if f.Do == "" {
		return f.Is
	}
	e, known := library[f.Do]
	if !known || len(f.In) != e.operands {
		return X
	}
	if f.Epsilon == 0 {
		return e.tree(f.In)
	}
	return e.tree(f.In).replaced(Param(Epsilon), Num(f.Epsilon))
}

// Scale multiplies by a constant.
func Scale(by float64) Func { return Func{Word: "scale", Is: Times(X, Num(by))} }

// SoftCap is within -most and most: most times tanh(x/most).
func SoftCap(most float64) Func {
	return Func{Word: "softcap", Is: Times(Num(most), Tanh(Over(X, Num(most))))}
}

// Sigmoid is 1/(1 + exp(-x)).
func Sigmoid() Func { return Func{Word: "sigmoid", Is: Over(Num(1), Plus(Num(1), Exp(Neg(X))))} }

// SquaredReLU is the square of max(x, 0).
func SquaredReLU() Func {
	positive := ReLU().Tree()
	return Func{Word: "relu2", Is: Times(positive, positive)}
}

// QuickGELU is x σ(1.702x).
func QuickGELU() Func { return Func{Word: "quickgelu", Is: logistic(1.702)} }

// GELUByErf is x Φ(x), by the error function.
func GELUByErf() Func {
	return Func{Word: "gelubyerf", Is: Times(Num(.5), X, Plus(Num(1), Erf(Times(X, Num(math.Sqrt2/2)))))}
}

// ReGLU multiplies up by max(x, 0) of the result, the gate.
func ReGLU(up string) Func { return Func{Word: "reglu", Is: Times(ReLU().Tree(), Of(up))} }

// Multiply multiplies by a tensor of the result's axes.
func Multiply(by string) Func { return Func{Word: "multiply", Is: Times(X, Of(by))} }

// Modulate is x(1 + scale) + shift, of values for each column.
func Modulate(shift, scale string) Func {
	return Func{Word: "modulate", Is: Plus(Times(X, Plus(Num(1), Row(scale))), Row(shift))}
}

// Softmax is exp(x), of x less the greatest of its row, over the sum of the row's.
func Softmax() Func {
	e := Exp(Minus(X, Most(X)))
	return Func{Word: "softmax", Is: Over(e, SumOver(e))}
}

// PerHead applies a norm to each head of a width instead of the row; its operands are [W], for the columns of a head.
func (f Func) PerHead(width Extent) Func {
	return f.rewritten(" per head", func(e Expr) Expr {
		switch {
		case e.Do == DoRow:
			e.Do = DoHeadRow
		case does[e.Do].gathers && e.Group == "":
			e.Group = width
		}
		return e
	})
}

// Interleaved turns columns 2j and 2j + 1 of each head, instead of j and j + half a head.
func (f Func) Interleaved() Func {
	pairs := map[Do]Do{DoTurn: DoPairs, DoCos: DoPairCos, DoSin: DoPairSin}
	return f.rewritten(" interleaved", func(e Expr) Expr {
		if do, ok := pairs[e.Do]; ok {
			e.Do = do
		}
		return e
	})
}

// RotaryOf turns the first n columns of each head of a width, by a table [rows, n], and leaves the rest; n is even and
// divides the width.
func RotaryOf(n int, width Extent, table string) Func {
	return Func{Word: "rotary of some", Is: If(Below(n, width), turnedBy(table), X)}
}

// logistic is x σ(ax).
func logistic(a float64) Expr {
	x := Neg(X)
	if a != 1 {
		x = Times(Num(-a), X)
	}
	return Over(X, Plus(Num(1), Exp(x)))
}

// gelu is x Φ(x) by tanh: (1 + tanh(u))/2 is the logistic function of 2u.
func gelu() Expr {
	u := Times(Num(math.Sqrt(2/math.Pi)), Plus(X, Times(Num(0.044715), X, X, X)))
	return Over(X, Plus(Num(1), Exp(Times(Num(-2), u))))
}

// normed is x over the root of the mean of its squares and the epsilon.
func normed(x Expr) Expr { return Times(x, RecipRoot(Plus(Mean(Times(x, x)), Param(Epsilon)))) }

// turnedBy is the rotary embedding by the angles of a table.
func turnedBy(table string) Expr {
	return Plus(Times(X, Cos(table)), Times(Turned(X, ""), Sin(table)))
}

// replaced is the tree with one leaf in place of another.
func (e Expr) replaced(leaf, by Expr) Expr {
	return e.each(func(x Expr) Expr {
		if len(x.Of) == 0 && x.Do == leaf.Do && x.Tensor == leaf.Tensor && x.Name == leaf.Name {
			return by
		}
		return x
	})
}

// each is the tree with a function of each of its nodes, from the leaves on.
func (e Expr) each(f func(Expr) Expr) Expr {
	of := e.Of
	e.Of = nil
	for _, x := range of {
		e.Of = append(e.Of, x.each(f))
	}
	return f(e)
}

// rewritten is the function with another tree, and more to its word.
func (f Func) rewritten(more string, each func(Expr) Expr) Func {
	return Func{Word: f.Name() + more, Is: f.Tree().each(each)}
}

// Functions are the names of all functions that have one of their own, sorted.
func Functions() []FuncKind { return slices.Sorted(maps.Keys(library)) }
