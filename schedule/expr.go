package schedule

// Expr is a value for each element of a result: a tree of operations over the result so far and further operands. The
// zero value is X. Every leaf is exact in fp32. Every operation is an operation of fp32, rounded to nearest, in the
// order of the tree; docs/proof.md says where a result is rounded to its type.
type Expr struct {
	Do Do     `json:",omitempty"` // empty is X, the result so far
	Of []Expr `json:",omitempty"` // the operands of the operation
	// Tensor of a leaf.
	Tensor string `json:",omitempty"`
	// Number of a constant, rounded to the nearest number of fp32, or the number of columns of a DoBelow.
	Number float64 `json:",omitempty"`
	// Name of a number of the Shape.
	Name string `json:",omitempty"`
	// Group is the number of columns of a statistic's group, or the width of a head. Empty means the whole row or, for
	// an operation on heads, the width of the tables beside it.
	Group Extent `json:",omitempty"`
}

// Do is the operation of an Expr.
type Do string

// Leaves.
const (
	DoX       Do = ""          // the result so far
	DoOf      Do = "of"        // a tensor of the result's axes, at the same place
	DoRow     Do = "row"       // a tensor of the result's last axis: by column
	DoColumn  Do = "column"    // a tensor of the result's other axes: by row
	DoHeadRow Do = "headrow"   // a tensor [W]: by column of a head
	DoCos     Do = "cos"       // of a table [M,W]: element j of its first half, j by column of half a head
	DoSin     Do = "sin"       // the same of its second half
	DoPairCos Do = "paircos"   // of a table [M,W]: element j of its first half, j by pair of columns of a head
	DoPairSin Do = "pairsin"   // the same of its second half
	DoNumber  Do = "number"    // a constant
	DoParam   Do = "parameter" // a number of the Shape
)

// Operations of each element.
const (
	DoPlus      Do = "plus"
	DoMinus     Do = "minus"
	DoTimes     Do = "times"
	DoOver      Do = "over"
	DoGreatest  Do = "greatest" // a > b ? a : b
	DoLeast     Do = "least"    // a < b ? a : b
	DoNeg       Do = "neg"
	DoAbs       Do = "abs"
	DoExp       Do = "exp"
	DoTanh      Do = "tanh"
	DoErf       Do = "erf"
	DoLog       Do = "log"
	DoRoot      Do = "root"
	DoRecipRoot Do = "reciproot" // 1 / root, rounded twice
	DoFinite    Do = "finite"    // x, or 0 where x is infinite or no number
	DoPower     Do = "power"     // the least power of two not below x's size, from 2^-126 to 2^126
	DoUp        Do = "up"        // the least number of e4m3 not below x's size, from 2^-9 to 448; NaN for NaN
	DoLoud      Do = "loudpower" // DoPower, and NaN for NaN
	DoBelow     Do = "below"     // the first operand in the first Number columns of a head, the second in the rest
)

// Operations on a group of columns: statistics, which are the same in the whole group, and rotations of pairs.
const (
	DoSum   Do = "sum"
	DoMean  Do = "mean"      // the sum, over the number of columns
	DoMost  Do = "most"      // by DoGreatest
	DoTurn  Do = "turn"      // for columns j and j + half a head: the negative of the second, and the first
	DoPairs Do = "turnpairs" // the same for columns 2j and 2j + 1
)

// X is the result so far.
var X = Expr{}

// Of is a tensor of the result's axes, at the same place.
func Of(tensor string) Expr { return Expr{Do: DoOf, Tensor: tensor} }

// Row is a tensor with a value for each column.
func Row(tensor string) Expr { return Expr{Do: DoRow, Tensor: tensor} }

// Column is a tensor with a value for each row.
func Column(tensor string) Expr { return Expr{Do: DoColumn, Tensor: tensor} }

// HeadRow is a tensor with a value for each column of a head.
func HeadRow(tensor string) Expr { return Expr{Do: DoHeadRow, Tensor: tensor} }

// Cos is the first half of a table [rows, width of a head], one value for columns j and j + half a head.
func Cos(table string) Expr { return Expr{Do: DoCos, Tensor: table} }

// Sin is the second half of such a table.
func Sin(table string) Expr { return Expr{Do: DoSin, Tensor: table} }

// Num is a constant, rounded to the nearest number of fp32.
func Num(x float64) Expr { return Expr{Do: DoNumber, Number: x} }

// Param is a number of the Shape, in the field of that name. Epsilon is DefaultEpsilon where that field is 0.
func Param(name string) Expr { return Expr{Do: DoParam, Name: name} }

// Plus is a + b, and so on from the left.
func Plus(a, b Expr, more ...Expr) Expr { return fold(DoPlus, a, b, more) }

// Minus is a - b, and so on from the left.
func Minus(a, b Expr, more ...Expr) Expr { return fold(DoMinus, a, b, more) }

// Times is a * b, and so on from the left.
func Times(a, b Expr, more ...Expr) Expr { return fold(DoTimes, a, b, more) }

// Over is a / b, and so on from the left.
func Over(a, b Expr, more ...Expr) Expr { return fold(DoOver, a, b, more) }

// Greatest is the greatest of all.
func Greatest(a, b Expr, more ...Expr) Expr { return fold(DoGreatest, a, b, more) }

// Least is the least of all.
func Least(a, b Expr, more ...Expr) Expr { return fold(DoLeast, a, b, more) }

// fold applies an operation of two operands to a list, from the left.
func fold(do Do, a, b Expr, more []Expr) Expr {
	made := Expr{Do: do, Of: []Expr{a, b}}
	for _, x := range more {
		made = Expr{Do: do, Of: []Expr{made, x}}
	}
	return made
}

// Neg is -e.
func Neg(e Expr) Expr { return Expr{Do: DoNeg, Of: []Expr{e}} }

// Abs is the magnitude of e.
func Abs(e Expr) Expr { return Expr{Do: DoAbs, Of: []Expr{e}} }

// Exp is e to the power of e's value.
func Exp(e Expr) Expr { return Expr{Do: DoExp, Of: []Expr{e}} }

// Tanh is the hyperbolic tangent.
func Tanh(e Expr) Expr { return Expr{Do: DoTanh, Of: []Expr{e}} }

// Erf is the error function.
func Erf(e Expr) Expr { return Expr{Do: DoErf, Of: []Expr{e}} }

// Log is the natural logarithm.
func Log(e Expr) Expr { return Expr{Do: DoLog, Of: []Expr{e}} }

// Root is the square root.
func Root(e Expr) Expr { return Expr{Do: DoRoot, Of: []Expr{e}} }

// RecipRoot is 1 over the square root.
func RecipRoot(e Expr) Expr { return Expr{Do: DoRecipRoot, Of: []Expr{e}} }

// Finite is e, or 0 where e is infinite or no number.
func Finite(e Expr) Expr { return Expr{Do: DoFinite, Of: []Expr{e}} }

// Power is the least power of two that is not below the size of e: at least 2^-126, and at most 2^126.
func Power(e Expr) Expr { return Expr{Do: DoPower, Of: []Expr{e}} }

// Up is the least number of e4m3 that is not below the size of e: at least 2^-9, and at most 448. For NaN it is NaN.
func Up(e Expr) Expr { return Expr{Do: DoUp, Of: []Expr{e}} }

// LoudPower is Power, but NaN for NaN.
func LoudPower(e Expr) Expr { return Expr{Do: DoLoud, Of: []Expr{e}} }

// Columns are the first columns of each head of a width.
type Columns struct {
	Below int
	Head  Extent
}

// Below are the first n columns of each head of a width.
func Below(n int, head Extent) Columns { return Columns{n, head} }

// If is a in some columns and b in all others.
func If(in Columns, a, b Expr) Expr {
	return Expr{Do: DoBelow, Of: []Expr{a, b}, Number: float64(in.Below), Group: in.Head}
}

// SumOver is the sum of the row.
func SumOver(e Expr) Expr { return Expr{Do: DoSum, Of: []Expr{e}} }

// Mean is the mean of the row.
func Mean(e Expr) Expr { return Expr{Do: DoMean, Of: []Expr{e}} }

// Most is the greatest of the row.
func Most(e Expr) Expr { return Expr{Do: DoMost, Of: []Expr{e}} }

// InHeads is a statistic over the columns of a head instead of the row.
func (e Expr) InHeads(width Extent) Expr {
	e.Group = width
	return e
}

// Turned has, for columns j and j + width/2 of each head, the negative of the second column and the first one. An empty
// width is the width of the table beside it.
func Turned(e Expr, width Extent) Expr { return Expr{Do: DoTurn, Of: []Expr{e}, Group: width} }

// doing describes a Do.
type doing struct {
	of      int    // number of operands
	lies    Lies   // of a leaf that is an operand
	gathers bool   // it reads several columns
	heads   bool   // it needs the width of a head
	sign    string // stands between two operands; else the name stands before them
	binds   int    // how closely an operation with a sign binds
}

// does has all Dos.
var does = map[Do]doing{
	DoX: {}, DoNumber: {}, DoParam: {},
	DoOf: {lies: InPlace}, DoRow: {lies: ByColumn}, DoColumn: {lies: ByRow}, DoHeadRow: {lies: ByHead, heads: true},
	DoCos: {lies: OfTable, heads: true}, DoSin: {lies: OfTable, heads: true},
	DoPairCos: {lies: OfTable, heads: true}, DoPairSin: {lies: OfTable, heads: true},

	DoPlus: {of: 2, sign: " + ", binds: 1}, DoMinus: {of: 2, sign: " - ", binds: 1},
	DoTimes: {of: 2, sign: "*", binds: 2}, DoOver: {of: 2, sign: "/", binds: 2},
	DoGreatest: {of: 2}, DoLeast: {of: 2}, DoNeg: {of: 1}, DoAbs: {of: 1}, DoExp: {of: 1}, DoTanh: {of: 1},
	DoErf: {of: 1}, DoLog: {of: 1}, DoRoot: {of: 1}, DoRecipRoot: {of: 1}, DoFinite: {of: 1}, DoPower: {of: 1},
	DoUp: {of: 1}, DoLoud: {of: 1}, DoBelow: {of: 2},

	DoSum: {of: 1, gathers: true}, DoMean: {of: 1, gathers: true}, DoMost: {of: 1, gathers: true},
	DoTurn: {of: 1, gathers: true, heads: true}, DoPairs: {of: 1, gathers: true, heads: true},
}
