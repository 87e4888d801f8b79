package explore

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// In a plan of 16 bits an element of fp32 is two numbers, its halves. So a program that confuses the two types computes
// other numbers; this is a second reading of what the prover tells by the sizes of elements.

// wide reports whether a tensor's elements have twice the bytes of the plan's.
func wide(t schedule.Tensor, c ops.Case) bool { return t.Type.Bits() == 16*c.ElementSize }

// mixes reports whether tensors of a schedule have fp32 of their own.
func mixes(s schedule.Schedule) bool {
	for _, t := range s.Tensors {
		if t.Type == schedule.FP32 {
			return true
		}
	}
	return false
}

// halves are the numbers of an element of fp32.
func halves(x Number) []Number { return []Number{mixed(uint64(x), 1), mixed(uint64(x), 2)} }

// inMemory are elements as the memory of a tensor has them.
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

// joined is an element of fp32 in a plan of 16 bits, as formulas read it: of its halves.
func joined(halves []Number) Number {
	return mixed(hashed("fp32"), uint64(halves[0]), uint64(halves[1]))
}

// elementsOf are n elements of memory: two numbers make one where there are twice as many, else each number is one.
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

// widened is a sum that is kept in fp32. It has two numbers for each of a term's, or one in a plan of fp32.
func (x *search) widened(operands [][]Number, size int) []Number {
	var made []Number
	if len(operands[0]) == size {
		for _, sum := range x.added(operands, size) {
			made = append(made, kept(sum))
		}
		return made
	}
	if size%2 != 0 {
		return nil
	}
	for _, sum := range x.added(operands, size/2) {
		made = append(made, halves(kept(sum))...)
	}
	return made
}
