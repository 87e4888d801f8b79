package schedule

import (
	"math"
	"slices"
	"strings"
)

// Constructor is a function of this package that makes a Func from the names of tensors. Texts, packages and files of
// earlier versions know such a Func by its name.
type Constructor struct {
	Name     string // "RMSNorm"
	Operands int
	make     func(in []string) Func
}

// library has the constructors, sorted.
var library = []Constructor{
	{"Add", 1, func(in []string) Func { return Add(in[0]) }},
	{"Bias", 1, func(in []string) Func { return Bias(in[0]) }},
	{"Dequantise", 1, func(in []string) Func { return Dequantise(in[0]) }},
	{"GELU", 0, func([]string) Func { return GELU() }},
	{"GeGLU", 1, func(in []string) Func { return GeGLU(in[0]) }},
	{"LayerNorm", 2, func(in []string) Func { return LayerNorm(in[0], in[1]) }},
	{"Quantise", 0, func([]string) Func { return Quantise() }},
	{"QuantiseE5M2", 0, func([]string) Func { return QuantiseE5M2() }},
	{"QuantiseFP4", 0, func([]string) Func { return QuantiseFP4() }},
	{"QuantiseMXFP4", 0, func([]string) Func { return QuantiseMXFP4() }},
	{"RMSNorm", 1, func(in []string) Func { return RMSNorm(in[0]) }},
	{"ReLU", 0, func([]string) Func { return ReLU() }},
	{"Rotary", 1, func(in []string) Func { return Rotary(in[0]) }},
	{"Rounded", 0, func([]string) Func { return Rounded() }},
	{"SiLU", 0, func([]string) Func { return SiLU() }},
	{"SwiGLU", 1, func(in []string) Func { return SwiGLU(in[0]) }},
}

// Library has the constructors, sorted by their names.
func Library() []Constructor { return slices.Clone(library) }

// Of is the function of these tensors, one for each operand.
func (c Constructor) Of(tensors ...string) Func { return c.make(tensors) }

// Word is the word of the constructor's functions.
func (c Constructor) Word() string { return strings.ToLower(c.Name) }

// Bias adds a tensor [N] to each row of a result [M,N].
func Bias(tensor string) Func { return Func{Word: "bias", Is: Plus(X, Row(tensor))} }

// Add adds a tensor to a result: a residual.
func Add(tensor string) Func { return Func{Word: "add", Is: Plus(X, Of(tensor))} }

// ReLU is max(x, 0).
func ReLU() Func { return Func{Word: "relu", Is: Greatest(X, Num(0))} }

// GELU is x Φ(x), by the tanh approximation: (1 + tanh(u))/2 is the logistic function of 2u.
func GELU() Func {
	u := Times(Num(math.Sqrt(2/math.Pi)), Plus(X, Times(Num(0.044715), X, X, X)))
	return Func{Word: "gelu", Is: Over(X, Plus(Num(1), Exp(Times(Num(-2), u))))}
}

// SiLU is x σ(x), with the logistic function σ.
func SiLU() Func { return Func{Word: "silu", Is: logistic(1)} }

// SwiGLU multiplies up by silu of the result, the gate.
func SwiGLU(up string) Func { return Func{Word: "swiglu", Is: Times(SiLU().Is, Of(up))} }

// GeGLU multiplies up by gelu of the result, the gate.
func GeGLU(up string) Func { return Func{Word: "geglu", Is: Times(GELU().Is, Of(up))} }

// RMSNorm divides each row by the root of the mean of its squares and the epsilon, and multiplies it by the weight, a
// value for each index of the last axis. It is rounded once.
func RMSNorm(weight string) Func { return Func{Word: "rmsnorm", Is: Times(normed(X), Row(weight))} }

// LayerNorm subtracts the mean of each row from the row, divides the difference by the root of the mean of its squares
// plus the epsilon, multiplies it by the weight and adds the bias. Weight and bias have a value for each index of the
// last axis. It is rounded once.
func LayerNorm(weight, bias string) Func {
	return Func{Word: "layernorm", Is: Plus(Times(normed(Minus(X, Mean(X))), Row(weight)), Row(bias))}
}

// Rotary turns the heads of a result by the angles of a table [rows, width of a head], whose first half has the cosines
// and whose second half has the sines. Let x be column j of the first half of a head, and y column j of the second
// half. x becomes x cos(j) - y sin(j), and y becomes y cos(j) + x sin(j), each rounded once.
func Rotary(table string) Func { return Func{Word: "rotary", Is: turnedBy(table)} }

// Rounded is x, rounded as all results are. It is for a Copy of a tensor with Type FP32 whose result has the type of
// the plan.
func Rounded() Func { return Func{Word: "rounded"} }

// Scale multiplies by a constant.
func Scale(by float64) Func { return Func{Word: "scale", Is: Times(X, Num(by))} }

// SoftCap keeps x between -most and most: it is most times tanh(x/most).
func SoftCap(most float64) Func {
	return Func{Word: "softcap", Is: Times(Num(most), Tanh(Over(X, Num(most))))}
}

// Sigmoid is 1/(1 + exp(-x)).
func Sigmoid() Func { return Func{Word: "sigmoid", Is: Over(Num(1), Plus(Num(1), Exp(Neg(X))))} }

// SquaredReLU is the square of max(x, 0).
func SquaredReLU() Func {
	positive := ReLU().Is
	return Func{Word: "relu2", Is: Times(positive, positive)}
}

// QuickGELU is x σ(1.702x).
func QuickGELU() Func { return Func{Word: "quickgelu", Is: logistic(1.702)} }

// GELUByErf is x Φ(x), by the error function.
func GELUByErf() Func {
	return Func{Word: "gelubyerf", Is: Times(Num(.5), X, Plus(Num(1), Erf(Times(X, Num(math.Sqrt2/2)))))}
}

// ReGLU multiplies up by max(x, 0) of the result, the gate.
func ReGLU(up string) Func { return Func{Word: "reglu", Is: Times(ReLU().Is, Of(up))} }

// Multiply multiplies by a tensor of the result's axes.
func Multiply(by string) Func { return Func{Word: "multiply", Is: Times(X, Of(by))} }

// Modulate is x(1 + scale) + shift, where scale and shift have a value for each column.
func Modulate(shift, scale string) Func {
	return Func{Word: "modulate", Is: Plus(Times(X, Plus(Num(1), Row(scale))), Row(shift))}
}

// Softmax is exp(x - the greatest element of the row) over the sum of these in the row.
func Softmax() Func {
	e := Exp(Minus(X, Most(X)))
	return Func{Word: "softmax", Is: Over(e, SumOver(e))}
}

// Quantise divides each row by its scale, so that the row fits e4m3. The scale is the least power of two that is not
// below the greatest finite size of the row over 448, the greatest number of e4m3. So a quotient loses nothing before
// it is rounded, and a code times its scale is exact. The scales are a further result: the scales of the tensor of
// eight bits.
func Quantise() Func { return Func{Word: "quantise", Is: fitted(448)} }

// QuantiseE5M2 is Quantise for e5m2, whose greatest number is 57344.
func QuantiseE5M2() Func { return Func{Word: "quantisee5m2", Is: fitted(57344)} }

// fitted is x over the least power of two by which the finite numbers of a row fit the greatest number.
func fitted(greatest float64) Expr { return Over(X, Power(Over(Most(Abs(Finite(X))), Num(greatest)))) }

// QuantiseFP4 divides each block by its scale, so that the block fits e2m1. The scale is the least number of e4m3, from
// 2^-9 to 448, that is not below the greatest size of the block over 6, the greatest number of e2m1. So the quotient is
// rounded once, and a code times its scale is exact. Sizes above 6*448 become 6*448. A block with an infinity or a NaN
// has the scale NaN, and so all of it reads as NaN: e2m1 has neither.
func QuantiseFP4() Func {
	return Func{Word: "quantisefp4", Is: Over(X, Up(loudSixth()))}
}

// QuantiseMXFP4 is QuantiseFP4 with scales of ue8m0, for blocks of 32 columns. The scale is the least power of two,
// from 2^-126 to 2^126, that is not below the greatest size of the block over 6. So nothing saturates.
func QuantiseMXFP4() Func {
	return Func{Word: "quantisemxfp4", Is: Over(X, LoudPower(loudSixth()))}
}

// loudSixth is the greatest size of a row over 6, the greatest number of e2m1. It is NaN where the row has an infinity
// or a NaN: the sum that it adds is 0, or else NaN.
func loudSixth() Expr { return Plus(Over(Most(Abs(X)), Num(6)), SumOver(Times(Num(0), X))) }

// Dequantise multiplies each row of eight bits, or each block of eight or four, by its scale.
func Dequantise(scales string) Func { return Func{Word: "dequantise", Is: Times(X, Column(scales))} }

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

// normed is x over the root of the mean of its squares and the epsilon.
func normed(x Expr) Expr { return Times(x, RecipRoot(Plus(Mean(Times(x, x)), Param(Epsilon)))) }

// turnedBy is the rotary embedding with the angles of a table.
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

// each applies f to each node of the tree, from the leaves on.
func (e Expr) each(f func(Expr) Expr) Expr {
	of := e.Of
	e.Of = nil
	for _, x := range of {
		e.Of = append(e.Of, x.each(f))
	}
	return f(e)
}

// rewritten is the function with each node of its tree rewritten, and with a longer word.
func (f Func) rewritten(more string, each func(Expr) Expr) Func {
	f.Word, f.Is = f.Name()+more, f.Is.each(each)
	return f
}
