package ops

import (
	"math"
	"slices"

	"ovgen/schedule"
)

// An operation lists its uses in one order: what it reads, then its result, and then what it leaves beside it. This
// file alone knows what each of them is.

// Reads are the uses that an operation reads: what a Copy or a Collective moves, the terms of a Sum, the factors of a
// Product, the operands of a Call, what an Apply makes its result of and behind that the operands of its formulas.
func (o *Op) Reads() []Use { return o.Uses[:o.written()] }

// Writes are the uses that an operation writes: its result, and perhaps a workspace or scales. A Take has results only.
func (o *Op) Writes() []Use { return o.Uses[o.written():] }

// written is how many uses come before the first that is written.
func (o *Op) written() int {
	if i := slices.IndexFunc(o.Uses, func(u Use) bool { return u.Write }); i >= 0 {
		return i
	}
	return len(o.Uses)
}

// SourceOf names values, one for each use that an operation reads: what a Copy or a Collective moves, or an Apply makes
// its result of, and behind it the operands of the Apply's formulas, in the order of Lies.
func SourceOf[T any](values []T) (source T, beside []T) {
	if len(values) == 0 {
		return source, nil
	}
	return values[0], values[1:]
}

// Source is what a Copy or a Collective moves, or an Apply makes its result of; of no bytes where there is none.
func (o *Op) Source() Use {
	source, _ := SourceOf(o.Reads())
	return source
}

// Beside are the operands of an Apply's formulas, in the order of Lies.
func (o *Op) Beside() []Use {
	_, beside := SourceOf(o.Reads())
	return beside
}

// Result is the range that an operation makes; of no bytes where there is none.
func (o *Op) Result() (u Use) {
	if list := o.Writes(); len(list) > 0 {
		u = list[0]
	}
	return u
}

// Copies are those of a gather, which lists what each reads and then what it writes.
func (o *Op) Copies() (list []Op) {
	for uses := range slices.Chunk(o.Uses, 2) {
		one := *o
		one.Uses = uses
		list = append(list, one)
	}
	return list
}

// LeftScales reports whether use i is the scales that an operation leaves beside its result.
func (o *Op) LeftScales(i int) bool { return o.LeavesScales && i == len(o.Uses)-1 }

// LiesOf is how use i of an operation lies to its result, by the operation's formulas.
func (o *Op) LiesOf(i int) schedule.Lies {
	if i > 0 && i <= len(o.Lies) {
		return o.Lies[i-1]
	}
	return schedule.InPlace
}

// Factors are what a Product reads: its uses, or a value that a reader has for each of them. What it does not read is
// zero.
type Factors[T any] struct {
	A, B, ScaleA, ScaleB, Bias T
	// Before is the result so far, where the product accumulates.
	Before T
}

// Factors are the uses that a Product reads; none of another operation.
func (o *Op) Factors() (f Factors[*Use]) {
	var uses []*Use
	for i := range o.Reads() {
		uses = append(uses, &o.Uses[i])
	}
	f, _ = FactorsOf(o, uses)
	return f
}

// FactorsOf names values, one for each use that a Product reads; ok is false where no product reads so many.
func FactorsOf[T any](o *Op, values []T) (f Factors[T], ok bool) {
	names, before := f.matrices(o), []*T{&f.Before}
	if !o.Accumulate {
		before = nil
	}
	if len(values) > len(names)+len(before) {
		names = append(names, &f.Bias)
	}
	names = append(names, before...)
	if o.Kind != Product || len(values) != len(names) {
		return f, false
	}
	for i, at := range names {
		*at = values[i]
	}
	return f, true
}

// matrices are what each Product reads first: its matrices and their scales.
func (f *Factors[T]) matrices(o *Op) []*T {
	names := []*T{&f.A, &f.B}
	if o.Scales > 1 {
		names = append(names, &f.ScaleA)
	}
	if o.Scales > 0 {
		names = append(names, &f.ScaleB)
	}
	return names
}

// Next says which matrix, or whose scales, the use is that a Product lists next.
func (o *Op) Next() (f Factors[bool]) {
	if names := f.matrices(o); len(o.Uses) < len(names) {
		*names[len(o.Uses)] = true
	}
	return f
}

// SummandsOf names values, one for each use that a Sum reads: the terms of eight bits, the scales of each, and what it
// adds as it is.
func SummandsOf[T any](o *Op, values []T) (terms, scales, others []T) {
	n := min(o.ScaledTerms, len(values)/2)
	return values[:n:n], values[n : 2*n : 2*n], values[2*n:]
}

// ScalesTerm reports whether use i of an operation is the scales of a term.
func (o *Op) ScalesTerm(i int) bool { return o.ScaledTerms <= i && i < 2*o.ScaledTerms }

// Shape is the rows and columns of a Product's result and the extent summed over, of a plan whose elements have so many
// bytes: A has mk elements, B kn, and the result mn. They are 0 where it has none.
func (o *Op) Shape(element int64) (m, k, n float64) {
	f := o.Factors()
	if f.A == nil || f.A.Bytes == 0 || f.B.Bytes == 0 || o.Result().Bytes == 0 {
		return 0, 0, 0
	}
	a := float64(f.A.Bytes) / float64(o.ElementOf(A, element))
	b := float64(f.B.Bytes) / float64(o.ElementOf(B, element))
	c := float64(o.Result().Bytes) / float64(element)
	return math.Sqrt(a * c / b), math.Sqrt(a * b / c), math.Sqrt(b * c / a)
}
