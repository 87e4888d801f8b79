package ops

import (
	"math"
	"slices"

	"ovgen/schedule"
)

// An operation lists its uses in one order: its reads, then its result, and then a workspace or scales beside the
// result. Only this file knows the meaning of each use.

// Reads are the uses that an operation reads: the source of a Copy or a Collective, the factors of a Product, the
// operands of a Call, or the source of an Apply or the terms of a Sum, followed by the operands of their formulas.
func (o *Op) Reads() []Use { return o.Uses[:o.written()] }

// Writes are the uses that an operation writes: its result, and perhaps a workspace or scales. A Take has only results.
func (o *Op) Writes() []Use { return o.Uses[o.written():] }

// written is the number of uses before the first write.
func (o *Op) written() int {
	if i := slices.IndexFunc(o.Uses, func(u Use) bool { return u.Write }); i >= 0 {
		return i
	}
	return len(o.Uses)
}

// SourceOf names values, one for each read of an operation: the source of a Copy, a Collective or an Apply, and then
// the operands of the Apply's formulas, in the order of Lies.
func SourceOf[T any](values []T) (source T, beside []T) {
	if len(values) == 0 {
		return source, nil
	}
	return values[0], values[1:]
}

// Source is the first read of an operation: the range that a Copy or a Collective moves, or from which an Apply makes
// its result. It has no bytes where there is none.
func (o *Op) Source() Use {
	source, _ := SourceOf(o.Reads())
	return source
}

// Beside are the operands of an Apply's formulas, in the order of Lies.
func (o *Op) Beside() []Use {
	_, beside := SourceOf(o.Reads())
	return beside
}

// Result is the range that an operation makes; it has no bytes where there is none.
func (o *Op) Result() (u Use) {
	if list := o.Writes(); len(list) > 0 {
		u = list[0]
	}
	return u
}

// FirstOf divides uses of operations that one launch does one after the other: those of the first operation, which end
// with its result, and those of the others.
func FirstOf(uses []Use) (first, others []Use) {
	end := 1 + slices.IndexFunc(uses, func(u Use) bool { return u.Write })
	return uses[:end:end], uses[end:]
}

// Copies are the copies of a gather, whose uses are a read and a write for each copy.
func (o *Op) Copies() (list []Op) {
	for uses := range slices.Chunk(o.Uses, 2) {
		one := *o
		one.Uses = uses
		list = append(list, one)
	}
	return list
}

// LeftScales reports whether use i is the scales that an operation writes beside its result.
func (o *Op) LeftScales(i int) bool { return o.LeavesScales && i == len(o.Uses)-1 }

// OfScales reports whether use i has an element for each row of the launch: scales that the operation writes beside its
// result, or that it moves.
func (o *Op) OfScales(i int) bool {
	return o.LeftScales(i) || o.Scaled > 0 && (o.Kind == Copy || o.Kind == Take)
}

// LiesOf says how use i of an operation lies to its result, by the operation's formulas.
func (o *Op) LiesOf(i int) schedule.Lies {
	if reads := o.written(); i >= reads-len(o.Lies) && i < reads {
		return o.Lies[i-(reads-len(o.Lies))]
	}
	return schedule.InPlace
}

// FinishOf splits values, one for each read of a Sum: the values of its terms, and the values of its formulas' operands
// in the order of Lies.
func FinishOf[T any](o *Op, values []T) (summands, beside []T) {
	n := max(len(values)-len(o.Lies), 0)
	return values[:n:n], values[n:]
}

// Factors are the operands of a Product: its uses, or a reader's value for each of them. Operands that it does not have
// are zero.
type Factors[T any] struct {
	A, B, ScaleA, ScaleB, Bias T
	// Before is the result so far, where the product accumulates.
	Before T
}

// Factors are the uses that a Product reads; all are nil for other operations.
func (o *Op) Factors() (f Factors[*Use]) {
	var uses []*Use
	for i := range o.Reads() {
		uses = append(uses, &o.Uses[i])
	}
	f, _ = FactorsOf(o, uses)
	return f
}

// FactorsOf names values, one for each read of a Product; ok is false where no product has that many reads.
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

// matrices are the first operands of every Product: its matrices and their scales.
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

// Next says which matrix, or the scales of which matrix, the next use of a Product is.
func (o *Op) Next() (f Factors[bool]) {
	if names := f.matrices(o); len(o.Uses) < len(names) {
		*names[len(o.Uses)] = true
	}
	return f
}

// SummandsOf names values, one for each summand of a Sum: the terms of eight bits, the scales of each, and the terms
// that it adds unscaled.
func SummandsOf[T any](o *Op, values []T) (terms, scales, others []T) {
	n := min(o.ScaledTerms, len(values)/2)
	return values[:n:n], values[n : 2*n : 2*n], values[2*n:]
}

// ScalesTerm reports whether use i of an operation is the scales of a term.
func (o *Op) ScalesTerm(i int) bool { return o.ScaledTerms <= i && i < 2*o.ScaledTerms }

// Shape is the rows m and columns n of a Product's result, and the extent k summed over, in a plan whose elements have
// that many bits: A has mk elements, B kn, and the result mn. They are 0 for operations without these.
func (o *Op) Shape(element int64) (m, k, n float64) {
	f := o.Factors()
	if f.A == nil || f.A.Bytes == 0 || f.B.Bytes == 0 || o.Result().Bytes == 0 {
		return 0, 0, 0
	}
	a := float64(8*f.A.Bytes) / float64(o.ElementOf(A, element))
	b := float64(8*f.B.Bytes) / float64(o.ElementOf(B, element))
	c := float64(8*o.Result().Bytes) / float64(element)
	return math.Sqrt(a * c / b), math.Sqrt(a * b / c), math.Sqrt(b * c / a)
}
