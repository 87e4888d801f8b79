package fewrows

import (
	"fmt"
	"math"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/runtime/plan"
)

// Function is a function of each element of a product, which kernels of a package apply beside its place and in
// registers.
type Function struct {
	Number int // among the package's functions of products, from 1
	// Epilogue is a function that the library of products has, which comes before the result is rounded; empty: none.
	Epilogue string
	// Made is a function of the rounded result, which is stored beside it; nil: none.
	Made *kernels.Made
}

// Name is the function's name in device code.
func (f *Function) Name() string { return fmt.Sprintf("made%d", f.Number) }

// number is the function's number; 0: there is none.
func (f *Function) number() int {
	if f == nil {
		return 0
	}
	return f.Number
}

// takes reports whether the function takes so many operands besides the result, and numbers of the Shape.
func (f *Function) takes(operands, numbers int) bool {
	if f == nil || f.Made == nil {
		return operands+numbers == 0
	}
	return operands == len(f.Made.Operands) && numbers == f.Made.Numbers
}

// epilogue is the function of the sum; empty: there is none.
func (f *Function) epilogue() string {
	if f == nil {
		return ""
	}
	return f.Epilogue
}

// form is the form of the product, and behind it the keys of the function.
func (f *Function) form() string {
	form := "linear"
	if f.epilogue() != "" {
		form += " " + f.epilogue()
	}
	if f != nil && f.Made != nil {
		form += kernels.Joint + f.Made.Form()
	}
	return form
}

// With are the kernels with each of the given functions; nil stands for none.
func (f Family) With(functions ...*Function) (list Family) {
	for _, function := range functions {
		for _, k := range f {
			k.Function = function
			list = append(list, k)
		}
	}
	return list
}

// MostOperands and MostNumbers are how many operands besides the result a function takes, and numbers of the Shape.
const MostOperands, MostNumbers = 4, 2

// Making are the parameters of a function: the address of its result, its operands and its numbers.
type Making struct {
	Made     driver.Ptr
	Operands [MostOperands]driver.Ptr
	Numbers  [MostNumbers]float64
}

// Words are the columns of a row and the numbers that the function takes, as kernels of elements have them last.
func (r Row) Words(p *Params) []uint64 {
	words := []uint64{p.Columns}
	for _, x := range p.Numbers[:r.Function.Made.Numbers] {
		words = append(words, math.Float64bits(x))
	}
	return words
}

// Applied are the kernels of a set that apply a function.
type Applied struct {
	set                       *Set
	making                    Making
	number, operands, numbers int
}

// Making returns the kernels with a function, by its number, which sets made to the function of the result and of
// operands. A function that is an epilogue alone makes nothing else.
func (s *Set) Making(number int, made driver.Ptr, operands ...driver.Ptr) Applied {
	x := Applied{set: s, making: Making{Made: made}, number: number, operands: len(operands)}
	copy(x.making.Operands[:], operands)
	return x
}

// Number returns them with the next number of the Shape.
func (x Applied) Number(value float64) Applied {
	if x.numbers < MostNumbers {
		x.making.Numbers[x.numbers] = value
	}
	x.numbers++
	return x
}

// Linear is Set.Linear by the kernels with the function, which must take the product.
func (x Applied) Linear(q *plan.Queue, on *plan.Stream, p *plan.Product, c, a, b, bias driver.Ptr) {
	x.launch(q, on, p.Desc(), Params{To: c, A: a, B: b, Bias: bias})
}

// Narrow is Set.Narrow by the kernels with the function.
func (x Applied) Narrow(q *plan.Queue, on *plan.Stream, d driver.MatmulDesc, operands driver.Operands) {
	x.launch(q, on, d, narrow(d, operands))
}

func (x Applied) launch(q *plan.Queue, on *plan.Stream, d driver.MatmulDesc, p Params) {
	i := x.set.family.of(x.number, d.M)
	if i >= 0 && !x.set.family[i].Function.takes(x.operands, x.numbers) {
		q.Fail(fmt.Errorf("multiply few rows: the package has no function %d of %d operands and %d numbers", x.number,
			x.operands, x.numbers))
		return
	}
	p.Making = x.making
	x.set.launch(q, on, i, d, p)
}
