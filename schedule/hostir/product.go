package hostir

import (
	"cmp"
	"fmt"
	"strings"

	"ovgen/schedule"
)

// Product is a contraction of two operands by its indices, such as Linear, which the library of products makes. A bias
// is added to each row, and then a function is applied, by the name that schedules use.
type Product struct {
	Index string
	A, B  View
	// ScaleA and ScaleB multiply the sums: they are the scales of A's rows and of B's rows, or one scale each. A view
	// without a buffer means no scales. A weight of eight bits may have scales while rows of 16 bits have none.
	ScaleA, ScaleB View
	Bias           View // none where it has no buffer
	To             View
	Func           string // of each element; empty: none
	Accumulate     bool   // it adds to its result
	InOrder        bool   // a row has the same bits beside any number of rows
	InBlocks       bool   // scales are of blocks of rows and of squares of the weight
	// Then has formulas of each element of the rounded result, which is stored too; it may have none. The kernel of the
	// product makes them; where the library makes the product, a kernel of elements makes them behind it.
	Then Apply
}

// Multiply is the product of a and b by its indices, with a bias or none.
func Multiply(s StreamRef, index string, c, a, b View, bias ...View) Step {
	x := Product{Index: index, A: a, B: b, To: c}
	if len(bias) > 0 {
		x.Bias = bias[0]
	}
	return Do(s, x)
}

// Kind is ProductKind.
func (Product) Kind() Kind { return ProductKind }

func (Product) asks() string { return OpsField }

func (x Product) views() (reads, writes []View) {
	reads, writes = some(x.A, x.B, x.ScaleA, x.ScaleB, x.Bias), some(x.To)
	if len(x.Then.Makes) > 0 {
		reads, writes = append(reads, x.Then.Operands...), append(writes, x.Then.To)
	}
	return reads, writes
}

func (x Product) result() View { return x.To }

func (x Product) with(p Parts) Work {
	x.To = p.view("result", x.To)
	x.A, x.B, x.Bias = p.view("operand", x.A), p.view("second operand", x.B), p.view("bias", x.Bias)
	x.ScaleA, x.ScaleB = p.view("scale", x.ScaleA), p.view("second scale", x.ScaleB)
	if len(x.Then.Makes) > 0 {
		x.Then, _ = x.Then.with(p).(Apply)
	}
	return x
}

func (x Product) check(s Step) error {
	if _, err := ParseProduct(x.Index); err != nil {
		return err
	}
	if len(some(x.A, x.B, x.To)) < 3 {
		return fmt.Errorf("a product reads two operands and perhaps a bias, and writes one view")
	}
	if x.ScaleA.Buffer != "" && !x.Scaled() || x.InBlocks && !x.Scaled() {
		return fmt.Errorf("a product has scales of both operands, of the weight, or none")
	}
	if s.By != "" && s.By != x.Kernel() || x.Narrow() && s.By == "" {
		return fmt.Errorf("%s makes no product like %s", cmp.Or(s.By, "the library"), x.text())
	}
	if then := x.Then; len(then.Makes) > 0 {
		x.Then = Apply{}
		if _, ok := x.Making(then); !ok || s.By == "" {
			return fmt.Errorf("a kernel of products makes formulas of each element of their results, and no other")
		}
		if err := then.check(s); err != nil {
			return err
		}
	}
	return plain(x.A, x.B, x.ScaleA, x.ScaleB, x.Bias, x.To)
}

// Scaled reports whether the second operand, or both operands, have scales.
func (x Product) Scaled() bool { return x.ScaleB.Buffer != "" }

// Narrow reports whether only the second operand has scales: it has eight bits, and the first operand has the plan's
// type.
func (x Product) Narrow() bool { return x.Scaled() && x.ScaleA.Buffer == "" }

// Kernel is the emitted kernel that can make the product, for few rows or by a weight of eight bits; empty where only
// the library can. Kernels write results on this rank alone.
func (x Product) Kernel() string {
	switch {
	case x.Index != Linear || x.Accumulate || !x.To.Peer.IsZero():
		return ""
	case x.Narrow() && x.InBlocks:
		return SquaresKernel
	case x.Narrow():
		return NarrowKernel
	case x.Scaled():
		return ""
	}
	return FewRowsKernel
}

// A kernel of products takes at most this many operands besides the result for a function, and this many numbers of the
// Shape: fewrows.MostOperands and fewrows.MostNumbers.
const mostOperands, mostNumbers = 4, 2

// Making joins a product and formulas of its result into one kernel. ok is false where no kernel can do both: each
// element is made from the elements at its place, of this rank, and nothing is written that the product reads.
func (x Product) Making(then Apply) (_ Product, ok bool) {
	if len(x.Then.Makes) > 0 || len(then.Then) > 0 || then.Scales.Buffer != "" || then.kernel() != ElementsKernel ||
		!then.X.equal(x.To) || len(then.Operands) > mostOperands ||
		len(schedule.Params(then.Nodes())) > mostNumbers {
		return x, false
	}
	for _, v := range append([]View{then.To}, then.Operands...) {
		if !v.Peer.IsZero() || v.Each.Index != "" {
			return x, false
		}
	}
	for _, v := range some(x.A, x.B, x.ScaleA, x.ScaleB, x.Bias) {
		if v.Buffer == then.To.Buffer {
			return x, false
		}
	}
	x.Then = then
	return x, true
}

// Behind is the step of the formulas that a kernel of elements makes behind a product by the library, where no kernel
// of few rows makes both; else it is the step.
func (s Step) Behind() Step {
	x, _ := s.Do.(Product)
	if s.By != FewRowsKernel || len(x.Then.Makes) == 0 {
		return s
	}
	behind := Do(s.Stream, x.Then)
	behind.By = ElementsKernel
	return behind
}

// FewRows reports whether a product has few rows, at most most: its elements have 16 bits, and whole blocks of a kernel
// make it.
func FewRows(most int, rows, depth, columns, bytes int64) bool {
	return rows <= int64(most) && depth%256 == 0 && columns%64 == 0 && bytes == 2
}

// oneTile is how many columns a launch of few rows makes by one tile a block, of 132 multiprocessors.
const oneTile = 132 * 64

// MakesFew reports whether the kernel of a product of few rows makes its functions too. Where a block has several
// tiles of more than 8 rows, a kernel behind the product is faster, if there are kernels of products alone:
// fewrows.Set.Makes.
func MakesFew(rows, columns int64, epilogue bool, alone func() bool) bool {
	return rows <= 8 || columns <= oneTile || epilogue || !alone()
}

// text is Linear(C += A, B, Bias, gelu), or Linear(C, A * SA, B * SB) with scales; A may have no scales.
func (x Product) text() string {
	name, into := fmt.Sprintf("Product[%s]", x.Index), ", "
	if f, err := ParseProduct(x.Index); err == nil {
		name = f.Name
	}
	if x.Accumulate {
		into = " += "
	}
	operands := texted(some(x.A, x.B, x.Bias))
	for i, scale := range []View{x.ScaleA, x.ScaleB} {
		if scale.Buffer != "" {
			operands[i] += " * " + scale.String()
		}
	}
	if x.Func != "" {
		operands = append(operands, x.Func)
	}
	if x.InBlocks {
		operands = append(operands, "by blocks")
	}
	if x.InOrder {
		operands = append(operands, "in order")
	}
	text := name + "(" + x.To.String() + into + strings.Join(operands, ", ") + ")"
	if len(x.Then.Makes) > 0 {
		text += ";  " + x.Then.text()
	}
	return text
}

// Products by their indices: the indices of the operands and of the result, in the order of their axes. Indices that
// the result lacks are summed over.
const (
	Matmul   = "mk,kn->mn"
	Linear   = "mk,nk->mn"
	Gradient = "km,kn->mn"
)

// Form says how a product reads its operands, each of which is a matrix in row-major order.
type Form struct {
	Name string
	// TransposedA and TransposedB say which operands have the summed index where a plain matrix product has the index
	// of the result.
	TransposedA, TransposedB bool
}

// ParseProduct reads the indices of a product of two matrices.
func ParseProduct(index string) (Form, error) {
	wrong := func(what string) (Form, error) {
		return Form{}, fmt.Errorf("product %q: %s (write it like %q)", index, what, Linear)
	}
	operands, result, ok := strings.Cut(index, "->")
	a, b, two := strings.Cut(operands, ",")
	if !ok || !two {
		return wrong("it has no two operands and a result")
	}
	if len(a) != 2 || len(b) != 2 || len(result) != 2 {
		return wrong("it is not of matrices")
	}
	m, n := result[0], result[1]
	f := Form{TransposedA: a[0] != m, TransposedB: b[1] != n}
	inA, inB := a[1], b[0]
	if f.TransposedA {
		inA = a[0]
	}
	if f.TransposedB {
		inB = b[1]
	}
	if inA != inB || m == n || !strings.ContainsRune(a, rune(m)) || !strings.ContainsRune(b,
		rune(n)) || inA == m || inA == n {
		return wrong("the operands must share the index that the result lacks, and have one of its own each")
	}
	switch {
	case !f.TransposedA && !f.TransposedB:
		f.Name = "Matmul"
	case !f.TransposedA:
		f.Name = "Linear"
	case !f.TransposedB:
		f.Name = "Gradient"
	default:
		return wrong("both operands are transposed")
	}
	return f, nil
}
