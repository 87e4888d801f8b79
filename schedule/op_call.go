package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Call is the caller's work, such as attention: a function of that name, a field of the generated Plan, enqueues it on
// a stream of the run. On each rank it reads all rows of the rank's part of each operand, and makes the rank's part of
// Out. Index gives the axes letters as the Index of a contraction does, so axes of one letter have one extent, but
// nothing is summed. A letter that only Out has requires that Out is declared; d, the index of ranks, does not.
func Call(out, name, index string, in ...string) Op {
	return Op{Out: out, In: in, Index: index, Call: name}
}

// CallRows is a Call on each rank's rows instead of all rows. It takes the rank's rows of the operands that have the
// first letter of Out, takes the rank's part of the other operands, and makes the rank's rows of Out. A Call whose Out
// is declared with its rows spread over the ranks is a CallRows as well.
func CallRows(out, name, index string, in ...string) Op {
	return Op{Out: out, In: in, Index: index, Call: name, Makes: OwnRows}
}

// CallPartial is the caller's product, "mk,nk->mn", with summed letters that are spread over the ranks. On each rank
// the call makes a summand of all of Out, in memory of the plan, and the ranks' summands meet by the way of Out.
func CallPartial(out, name, index string, in ...string) Op {
	return Op{Out: out, In: in, Index: index, Call: name, Makes: Summands}
}

// By is the call done by a kernel, as in CallKernel.
func (o Op) By(k Kernel) Op {
	o.Kernel = k
	return o
}

// AsInvariant is the call of which its author says that it keeps the bits of rows: see Op.Invariant.
func (o Op) AsInvariant() Op {
	o.Invariant = true
	return o
}

// Makes is the part of the result that a rank's call makes.
type Makes string

// Values of Makes; empty: all rows of the rank's columns.
const (
	OwnRows  Makes = "rows"    // the rank's rows
	Summands Makes = "partial" // a summand of the whole result
)

// checkIndices refuses the caller's products whose Index can't be read.
func (s Schedule) checkIndices(v *validation) {
	for i, o := range s.Ops {
		_, err := s.Contraction(o)
		for _, e := range FieldErrors(err) {
			if o.apartFromSum() {
				v.add(fmt.Sprintf("Ops[%d].%s", i, e.Path), e.Hint, "%s", e.Msg)
			}
		}
	}
}

// checkSummands refuses operations that read summands, which differ from rank to rank, instead of their sum.
func (s Schedule) checkSummands(v *validation) {
	for i, o := range s.Ops {
		for _, name := range o.Operands() {
			if !s.ofSummands(name) || o.Index == Sum("", "").Index {
				continue
			}
			hint := fmt.Sprintf("add them up by schedule.Sum(%q, %q), and read that", name+"sum", name)
			at := slices.IndexFunc(s.Ops, func(x Op) bool { return x.Index == Sum("", "").Index && x.In[0] == name })
			if at >= 0 {
				hint = "read " + s.Ops[at].Out + ", their sum"
			}
			v.add(fmt.Sprintf("Ops[%d]", i), hint, "each rank has a summand of its own in %s, and %s needs the sum",
				name, o.Out)
		}
	}
}

// ofSummands reports whether a call makes the tensor as a summand on each rank.
func (s Schedule) ofSummands(tensor string) bool {
	return slices.ContainsFunc(s.Ops, func(o Op) bool {
		c, err := s.Contraction(o)
		return err == nil && o.Out == tensor && o.Call != "" && c.OfRanks()
	})
}

// OfOwnRows reports whether a call works on each rank's rows alone.
func (s Schedule) OfOwnRows(o Op) bool {
	c, err := s.Contraction(o)
	if err != nil || o.Call == "" || c.OfRanks() {
		return false
	}
	t, _ := s.Tensor(o.Out)
	axis, _, spread := t.Sharded()
	return o.Makes == OwnRows || spread && axis == 0
}

// summands splits a call of summands into two operations: the call, and the sum.
func (s Schedule) summands(o Op) (call, sum Op) {
	name := o.Out + "partial"
	for slices.ContainsFunc(s.Tensors, func(t Tensor) bool { return t.Name == name }) {
		name += "s"
	}
	call, sum = o, Sum(o.Out, name, o.Then...)
	call.Out, call.Then, call.Also = name, nil, nil
	call.Index = strings.Replace(o.Index, "->", "->"+string(ranksLetter), 1)
	sum.Also = o.Also
	return call, sum
}

// apartFromSum reports whether the summands of a call need an operation beside their sum.
func (o Op) apartFromSum() bool {
	_, out, _ := strings.Cut(o.Index, "->")
	return o.Call != "" && o.Makes == Summands && !strings.ContainsRune(out, ranksLetter)
}

// CallKernel is a Call by a kernel in a .cu beside the schedules. The Plan's field may name a function that does the
// call instead.
func CallKernel(out, name, index string, k Kernel, in ...string) Op {
	return Op{Out: out, In: in, Index: index, Call: name, Kernel: k}
}

// Kernel is the caller's kernel: a function of CUDA C++ that takes the tensors of a Call, first the result and then the
// operands in their order, and then numbers. docs/calls.md says how to write one.
type Kernel struct {
	File string // in the folder of the schedules: "attention.cu"
	Name string // of the function: "attention"
	// Blocks of a launch: an expression in extents as Go and C write it, "(M+63)/64*N/D". It must be at least 1 at each
	// shape that New takes: where it rounds a quotient down, Multiples state the divisor.
	Blocks string
	// Threads of a block; 0 means 256.
	Threads int
	// Args are the numbers that the function takes, each as an expression in extents: "N/D".
	Args []string
}

// Threads of a block of a Kernel.
const (
	defaultThreads = 256
	mostThreads    = 1024
)

// BlockThreads is the number of threads of a block.
func (k Kernel) BlockThreads() int {
	if k.Threads == 0 {
		return defaultThreads
	}
	return k.Threads
}

// The names that a .cu file and a function in it may have.
var (
	fileNamed     = regexp.MustCompile(`^[A-Za-z0-9_-]+\.cu$`)
	functionNamed = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// checkCall refuses a call that no plan can have, and a result whose axes nothing defines.
func (s Schedule) checkCall(v *validation, path string, i int) {
	o := s.Ops[i]
	if o.Invariant && (o.Call == "" || !s.Invariant) {
		v.add(path+".Invariant", "leave it out",
			"nothing asks for the word of an author but a call in a schedule that is Invariant")
	}
	if o.Call == "" {
		if o.Makes != "" {
			v.add(path+".Makes", "leave it out", "what each rank makes follows from the placements of its operands")
		}
		if o.Kernel.File != "" || o.Kernel.Name != "" {
			v.add(path+".Kernel", "write schedule.CallKernel", "only a call has a kernel of the caller's own")
		}
		return
	}
	switch again := slices.IndexFunc(s.Ops[:i], func(x Op) bool { return x.Call == o.Call }); {
	case !named.MatchString(o.Call):
		v.add(path+".Call", "use a capital, then letters and digits", "%q is no name of a plan's field", o.Call)
	case again >= 0:
		v.add(path+".Call", "use another name", "Ops[%d] is called %s already", again, o.Call)
	}
	if len(o.In) == 0 {
		v.add(path+".In", "name a tensor", "a call of no operands")
	}
	if len(o.Then) > 0 {
		v.add(path+".Then", "leave it out, and apply it in a schedule.Copy of "+o.Out,
			"what a call makes has no functions behind it")
	}
	if o.Makes != "" && o.Makes != OwnRows && o.Makes != Summands {
		v.add(path+".Makes", fmt.Sprintf("use %q or %q, or leave it out", OwnRows, Summands),
			"no call makes %q", o.Makes)
	}
	o.Kernel.check(v, path+".Kernel")
	c, err := s.Contraction(o)
	if _, declared := s.Tensor(o.Out); err != nil || declared {
		return
	}
	for _, l := range c.Out {
		if !strings.ContainsRune(strings.Join(c.In, ""), l) && l != ranksLetter {
			v.add(path+".Index", "declare "+o.Out+", or use a letter of an operand's",
				"nothing says how long the axis %c of %s is", l, o.Out)
		}
	}
}

// check refuses a kernel that nothing can launch. Expressions are read where the schedule is lowered.
func (k Kernel) check(v *validation, path string) {
	if k.File == "" {
		if k.Name != "" || k.Blocks != "" || k.Threads != 0 || len(k.Args) > 0 {
			v.add(path+".File", `name the file in the folder of the schedules: "attention.cu"`,
				"the kernel is in no file")
		}
		return
	}
	if !fileNamed.MatchString(k.File) {
		v.add(path+".File", `name a file in the folder of the schedules: "attention.cu"`,
			"%q is no name of a .cu", k.File)
	}
	if !functionNamed.MatchString(k.Name) {
		v.add(path+".Name", "name the function in "+k.File, "%q is no name of a function", k.Name)
	}
	if k.Blocks == "" {
		v.add(path+".Blocks", fmt.Sprintf("write an expression in extents: %q", "(M+63)/64"),
			"nothing says how many blocks a launch has")
	}
	if k.Threads < 0 || k.Threads > mostThreads {
		v.add(path+".Threads", fmt.Sprintf("use 1 to %d, or 0 for %d", mostThreads, defaultThreads),
			"no block has %d threads", k.Threads)
	}
}
