package explore

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// In a plan of 16 bits an element of fp32 is two numbers, its halves. So a program that confuses the two types computes
// other numbers. The prover tells the types apart by the sizes of elements; this is a second way.

// wide reports whether the elements of a tensor have twice the bytes of the plan's elements.
func wide(t schedule.Tensor, c ops.Case) bool { return t.Type.Bits() == 2*c.ElementBits }

// mixes reports whether a schedule has tensors of fp32.
func mixes(s schedule.Schedule) bool {
	for _, t := range s.Tensors {
		if t.Type == schedule.FP32 {
			return true
		}
	}
	return false
}

// halves are the two numbers of an element of fp32.
func halves(x Number) []Number { return []Number{mixed(uint64(x), 1), mixed(uint64(x), 2)} }

// inMemory lists the numbers that the memory of a tensor holds for these elements.
func inMemory(t schedule.Tensor, c ops.Case, elements []Number) []Number {
	if !wide(t, c) {
		return elements
	}
	var list []Number
	for _, x := range elements {
		list = append(list, halves(x)...)
	}
	return list
}

// joined is an element of fp32 in a plan of 16 bits, made of its halves, as formulas read it.
func joined(halves []Number) Number {
	return mixed(hashed("fp32"), uint64(halves[0]), uint64(halves[1]))
}

// elementsOf reads n elements from memory: two numbers make one element where there are twice as many, else each number
// is one.
func elementsOf(memory []Number, n int) []Number {
	if len(memory) != 2*n {
		return memory
	}
	list := make([]Number, n)
	for i := range list {
		list[i] = joined(memory[2*i : 2*i+2])
	}
	return list
}

// kept is a sum in fp32.
func kept(sum Number) Number { return applied("in fp32", sum) }

// widens reports whether an operation keeps a sum in fp32.
func widens(o *ops.Op) bool { return o.Kind == ops.Sum && o.Kernel == hostir.WidenKernel }

// widened is a sum that is kept in fp32. It has two numbers for each number of a term, or one in a plan of fp32.
func (x *search) widened(op *ops.Op, terms, beside [][]Number, size int) []Number {
	var made []Number
	if len(terms[0]) == size {
		for _, sum := range finished(op, x.added(terms, size), beside) {
			made = append(made, kept(sum))
		}
		return made
	}
	if size%2 != 0 {
		return nil
	}
	for _, sum := range finished(op, x.added(terms, size/2), beside) {
		made = append(made, halves(kept(sum))...)
	}
	return made
}
