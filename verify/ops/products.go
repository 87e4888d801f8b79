package ops

import (
	"math"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// product adds a product. It reads its operands, and its result where it accumulates. A product of no rows is a step
// without an operation. A product of few rows may be made by a kernel, which needs no workspace, and makes formulas of
// the result in the same launch; behind a product by the library a further kernel makes these.
func (u *unroller) product(op Op, n hostir.Step, x hostir.Product) {
	at := op
	op.Kind, op.Form, op.Accumulate = Product, form(x.Index, x.Func), x.Accumulate
	op.InOrder, op.InBlocks = x.InOrder, x.InBlocks
	op.Scales = len(some(x.ScaleA, x.ScaleB))
	if a, _ := u.program.Buffer(x.A.Buffer); op.Scales == 2 {
		b, _ := u.program.Buffer(x.B.Buffer)
		op.Codes = CodesOf(a.Tensor.Type, b.Tensor.Type)
	}
	for _, v := range some(x.A, x.B, x.ScaleA, x.ScaleB, x.Bias) {
		at, bytes := u.view(v)
		op.Uses = append(op.Uses, Use{At: at, Bytes: bytes})
	}
	to, bytes := u.view(x.To)
	if bytes == 0 {
		u.behind(at, n, x.Then)
		return
	}
	if factors := op.Factors(); op.Kernel == hostir.NarrowKernel || op.Kernel == hostir.SquaresKernel ||
		op.Kernel != "" && u.fewRows(factors.A.Bytes, factors.B.Bytes, bytes) {
		factors.B.Ahead = op.Early
		op.Uses = append(op.Uses, Use{Write: true, At: to, Bytes: bytes})
		u.add(op)
		u.makes(at, n, x.Then)
		return
	}
	op.Kernel, op.Early = "", false
	if x.Accumulate {
		op.Uses = append(op.Uses, Use{At: to, Bytes: bytes})
	}
	op.Uses = append(op.Uses, Use{Write: true, At: to, Bytes: bytes},
		Use{Write: true, At: Loc{Rank: u.c.Rank, Buffer: Workspace(op.Stream)}})
	u.add(op)
	u.behind(at, n, x.Then)
}

// CodesOf is a Product's Codes, by the types of its operands.
func CodesOf(a, b schedule.Type) string {
	if a == schedule.E4M3 && b == a {
		return ""
	}
	return string(a + " by " + b)
}

// behind adds formulas by a kernel of elements behind a product, if there are any.
func (u *unroller) behind(op Op, n hostir.Step, x hostir.Apply) {
	if len(x.Makes) > 0 {
		u.step++
		op.Step, op.Kernel, op.Early = u.step, hostir.ElementsKernel, false
		u.applies(op, n, x)
	}
}

// makes adds formulas, if there are any.
func (u *unroller) makes(op Op, n hostir.Step, x hostir.Apply) {
	if len(x.Makes) > 0 {
		u.applies(op, n, x)
	}
}

// form names the form of a product: matmul, linear or gradient, and the function of each element that follows: linear
// gelu.
func form(index, function string) string {
	f, err := hostir.ParseProduct(index)
	if err != nil {
		return index
	}
	name := strings.ToLower(f.Name)
	if function != "" {
		name += " " + function
	}
	return name
}

// fewRows reports whether a product has few rows, given the bytes of its rows, of its weight and of its result.
func (u *unroller) fewRows(a, b, c int64) bool {
	size := u.c.ElementSize
	rows := int64(math.Round(math.Sqrt(float64(a) / float64(b) * float64(c) / float64(size))))
	return hostir.FewRows(u.program.Schedule.FewRows, rows, a/rows/size, c/rows/size, size)
}
