package schedule

import (
	"slices"
	"strings"
)

// Op is one operation of a schedule: a contraction, then functions of its result.
type Op struct {
	// Out is the tensor that the operation makes. A tensor that is not declared is memory of the plan, for a later
	// operation to read.
	Out string
	// In are the tensors that the operation reads, declared or made by an earlier operation.
	In []string
	// Index names the axes of the operands and of the result by a letter each: "mk,nk->mn". The operation multiplies
	// the operands and sums over the letters that the result lacks. d is an index of ranks; "..." stands for axes that
	// keep their order.
	Index string
	// Then are the functions that are applied to the result, in order.
	Then []Func
	// Also are further results: the results of the first functions.
	Also []Made `json:",omitempty"`
	// Call names the caller's function that makes the result; empty: the Index says how the result is made.
	Call string
	// Makes is the part of the result that each rank's call makes; empty: all rows of the rank's columns.
	Makes Makes `json:",omitempty"`
	// Invariant is the word of a call's author: a row that the call makes has the same bits beside any number of rows.
	// An Invariant schedule asks for it of each call, since nothing else knows.
	Invariant bool `json:",omitempty"`
	// Kernel is the kernel of a call; without a File, a function in Go does the call.
	Kernel Kernel
}

// Linear is Out [M,N] = A [M,K] * B [N,K]ᵀ.
func Linear(out, a, b string, then ...Func) Op {
	return Op{Out: out, In: []string{a, b}, Index: "mk,nk->mn", Then: then}
}

// BatchedLinear is Linear on each of several batches of rows, with one weight: Out [S,M,N] = A [S,M,K] * B [N,K]ᵀ.
func BatchedLinear(out, a, b string, then ...Func) Op {
	return Op{Out: out, In: []string{a, b}, Index: "smk,nk->smn", Then: then}
}

// Batched reports whether the operation works on batches of rows, the first axis of its operand and its result.
func (o Op) Batched() bool { return o.Call == "" && o.Index == BatchedLinear("", "", "").Index }

// Matmul is Out [M,N] = A [M,K] * B [K,N].
func Matmul(out, a, b string, then ...Func) Op {
	return Op{Out: out, In: []string{a, b}, Index: "mk,kn->mn", Then: then}
}

// Gradient is Out [N,K] = A [M,N]ᵀ * B [M,K]: the gradient of a weight, from the gradient A of its layer's output and
// the layer's input B. With Add of an earlier gradient it adds to that gradient, in place if that lies Within Out.
func Gradient(out, a, b string, then ...Func) Op {
	return Op{Out: out, In: []string{a, b}, Index: "mn,mk->nk", Then: then}
}

// Sum adds up the first axis of a tensor. Each rank has one index of that axis.
func Sum(out, in string, then ...Func) Op {
	return Op{Out: out, In: []string{in}, Index: "d...->...", Then: then}
}

// Copy is the tensor with another placement, or functions of the tensor.
func Copy(out, in string, then ...Func) Op {
	return Op{Out: out, In: []string{in}, Index: "...->...", Then: then}
}

// Name is the operation's word: linear, matmul, gradient, sum, copy or call; for other contractions it is the Index.
func (o Op) Name() string {
	if o.Call != "" {
		return "call"
	}
	for _, u := range usual {
		if o.Index == u.Index {
			return u.name
		}
	}
	return o.Index
}

// String is "C = linear(A, B), bias(Bias) as H, gelu", where H is a further result, or "O = call Attention(Q, K, V) by
// attention of attention.cu", or "O = invariant call Attention(Q, K, V)".
func (o Op) String() string {
	name := o.Name()
	if o.Call != "" {
		name = strings.Join(strings.Fields(name+" "+string(o.Makes)+" "+o.Call), " ")
	}
	if o.Invariant {
		name = "invariant " + name
	}
	text := o.Out + " = " + name + "(" + strings.Join(o.In, ", ") + ")"
	if o.Kernel.File != "" {
		text += " by " + o.Kernel.Name + " of " + o.Kernel.File
	}
	for i := range len(o.Then) + 1 {
		for _, m := range o.Also {
			if m.After == i {
				text += " as " + m.Out
			}
		}
		if i < len(o.Then) {
			text += ", " + o.Then[i].String()
		}
	}
	return text
}

// Operands are all tensors that an operation and its functions read.
func (o Op) Operands() []string {
	list := slices.Clone(o.In)
	for _, f := range o.Then {
		list = append(list, f.Reads()...)
	}
	return list
}

// Reads says that an operation, or a function of it, reads a tensor.
func (o Op) Reads(tensor string) bool { return slices.Contains(o.Operands(), tensor) }

// Multiplies says that an operation is a product with a weight.
func (o Op) Multiplies() bool { return o.Call == "" && len(o.In) == 2 }

// Copies says that an operation is a copy without functions.
func (o Op) Copies() bool { return o.Name() == CopyWord && len(o.Then) == 0 }

// Operation names a schedule's computation by the names of its operations, each once:
// "linear", "copy, linear".
func (s Schedule) Operation() string {
	var names []string
	seen := map[string]bool{}
	for _, o := range s.Ops {
		if name := o.Name(); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Maker is the operation that makes a tensor, and whether there is one.
func (s Schedule) Maker(tensor string) (Op, bool) {
	for _, o := range s.Apart().Ops {
		if o.Out == tensor {
			return o, true
		}
	}
	return Op{}, false
}

// Made reports whether an operation makes the tensor, or the tensor whose scales it has; other tensors are inputs.
func (s Schedule) Made(tensor string) bool {
	_, ok := s.Maker(tensor)
	of, scales := s.ScaledBy(tensor)
	return ok || scales && s.Made(of.Name)
}

// Hidden are the tensors between two operations that the caller does not see, in the order
// in which they are made.
func (s Schedule) Hidden() (names []string) {
	for _, o := range s.Apart().Ops {
		if _, declared := s.Tensor(o.Out); !declared {
			names = append(names, o.Out)
		}
	}
	return names
}
