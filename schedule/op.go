package schedule

import (
	"slices"
	"strings"
)

// Op is one operation of a schedule: a contraction, then functions of its result.
type Op struct {
	// Out is the tensor that it makes. One that is not declared is memory of the plan, for a
	// later operation to read.
	Out string
	// In are the tensors that it reads, declared or made by an earlier operation.
	In []string
	// Index names the axes of the operands and of the result by a letter each:
	// "mk,nk->mn". It multiplies the operands and sums over the letters that the result
	// lacks. d is an index of ranks; "..." stands for axes that keep their order.
	Index string
	// Then is done to each element of the result, in order.
	Then []Func
	// Also are further results: what the first functions make.
	Also []Made `json:",omitempty"`
	// Call names the function of the caller's that makes the result; empty: the Index says how.
	Call string
	// Makes of a call says what each rank makes; empty: all rows of the columns that it has.
	Makes Makes `json:",omitempty"`
	// Kernel of a call does it; without a File a function in Go has to.
	Kernel Kernel
}

// Linear is Out [M,N] = A [M,K] * B [N,K]ᵀ.
func Linear(out, a, b string, then ...Func) Op {
	return Op{Out: out, In: []string{a, b}, Index: "mk,nk->mn", Then: then}
}

// BatchedLinear is Linear of each of several batches of rows, by one weight: Out [S,M,N] = A [S,M,K] * B [N,K]ᵀ.
func BatchedLinear(out, a, b string, then ...Func) Op {
	return Op{Out: out, In: []string{a, b}, Index: "smk,nk->smn", Then: then}
}

// Batched says that the operation is one of batches of rows, which are the first axis of its operand and its result.
func (o Op) Batched() bool { return o.Call == "" && o.Index == BatchedLinear("", "", "").Index }

// Matmul is Out [M,N] = A [M,K] * B [K,N].
func Matmul(out, a, b string, then ...Func) Op {
	return Op{Out: out, In: []string{a, b}, Index: "mk,kn->mn", Then: then}
}

// Gradient is Out [N,K] = A [M,N]ᵀ * B [M,K]: of a weight, from the gradient A of its layer's output and the layer's
// input B. With Add of an earlier gradient it goes on from that, in its memory where that lies Within Out.
func Gradient(out, a, b string, then ...Func) Op {
	return Op{Out: out, In: []string{a, b}, Index: "mn,mk->nk", Then: then}
}

// Sum adds up the first axis of a tensor. Each rank has one index of that axis.
func Sum(out, in string, then ...Func) Op {
	return Op{Out: out, In: []string{in}, Index: "d...->...", Then: then}
}

// Copy is the tensor itself, placed otherwise, or functions of it.
func Copy(out, in string, then ...Func) Op {
	return Op{Out: out, In: []string{in}, Index: "...->...", Then: then}
}

// Name is the operation's word: linear, matmul, gradient, sum, copy or call; of other
// contractions the Index.
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

// String is "C = linear(A, B), bias(Bias) as H, gelu", where H is a result too, or "O = call Attention(Q, K, V) by
// attention of attention.cu".
func (o Op) String() string {
	name := o.Name()
	if o.Call != "" {
		name = strings.Join(strings.Fields(name+" "+string(o.Makes)+" "+o.Call), " ")
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

// Copies says that an operation is a copy without functions.
func (o Op) Copies() bool { return o.Name() == "copy" && len(o.Then) == 0 }

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

// Made says that an operation makes the tensor, or the tensor whose scales it is; the others are inputs.
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
