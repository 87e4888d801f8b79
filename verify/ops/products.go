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
	if by, with := u.multiplier(op, x, bytes); by {
		op.Factors().B.Ahead, op.InOrder = op.Early, false // a kernel has one order
		op.Uses = append(op.Uses, Use{Write: true, At: to, Bytes: bytes})
		u.add(op)
		if with {
			u.makes(at, n, x.Then)
		} else {
			u.behind(at, n, x.Then)
		}
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

// multiplier reports whether the kernel that an operation names makes its product, whose result has so many bytes, and
// whether it makes the formulas behind it too.
func (u *unroller) multiplier(op Op, x hostir.Product, bytes int64) (by, with bool) {
	switch op.Kernel {
	case "":
		return false, false
	case hostir.FewRowsKernel:
		factors := op.Factors()
		rows, columns, few := u.fewRows(factors.A.Bytes, factors.B.Bytes, bytes)
		return few, hostir.MakesFew(rows, columns, x.Func != "", u.alone)
	}
	return true, true
}

// alone reports whether kernels of few rows make a product without functions.
func (u *unroller) alone() (found bool) {
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		x, _ := s.Do.(hostir.Product)
		found = found || s.By == hostir.FewRowsKernel && len(x.Then.Makes) == 0 && x.Func == ""
	})
	return found
}

// fewRows is the number of rows and of columns of a product, given the bytes of its rows, of its weight and of its
// result, and whether kernels of few rows make it.
func (u *unroller) fewRows(a, b, c int64) (rows, columns int64, few bool) {
	size := u.c.ElementBits / 8
	rows = int64(math.Round(math.Sqrt(float64(a) / float64(b) * float64(c) / float64(size))))
	most := u.program.Schedule.FewRows
	if u.program.Schedule.Invariant {
		most = math.MaxInt
	}
	columns = c / rows / size
	return rows, columns, hostir.FewRows(most, rows, a/rows/size, columns, size)
}
