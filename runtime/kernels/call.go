package kernels

import (
	"fmt"
	"math"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Call describes a kernel of the caller: its operands and its numbers.
type Call struct {
	Name     string // of the schedule's call
	Operands int
	Args     int
}

// Base is the kernel's name in PTX without the element type: "call_Attention".
func (c Call) Base() string { return "call_" + c.Name }

// code is the kernel for one element type. Its parameters are 64-bit words: the address and the bytes of the result and
// of each operand, then the numbers.
func (c Call) code(typ driver.Type) driver.Kernel {
	return driver.Kernel{Name: c.Base() + "_" + typ.String(), Params: 8 * (2*(1+c.Operands) + c.Args), Row: c}
}

// PlanCall is a kernel of the caller as one plan launches it.
type PlanCall struct {
	name            string
	handle          *plan.Kernel
	blocks, threads int
	params          []uint64
}

// Call declares to a builder of a plan a launch of a kernel of the caller, on elements of type typ, with the given
// number of blocks and of threads in each block. args are the kernel's numbers.
func (t *Table) Call(b *plan.Builder, name string, typ driver.Type, blocks, threads int, args ...int) *PlanCall {
	c := &PlanCall{name: name, blocks: blocks, threads: threads}
	for _, x := range t.Calls {
		if x.Name == name {
			c.handle = b.Kernel(x.code(typ).Name)
			c.params = make([]uint64, 2*(1+x.Operands), 2*(1+x.Operands)+len(args))
		}
	}
	for _, n := range args {
		c.params = append(c.params, uint64(n))
	}
	return c
}

// Launch enqueues the work: the function if the caller has set one, else the kernel.
func (c *PlanCall) Launch(q *plan.Queue, on *plan.Stream, f plan.Call, to plan.Range, from ...plan.Range) {
	if f != nil {
		q.Call(on, c.name, f, to, from...)
		return
	}
	if c.blocks < 1 || c.blocks > math.MaxInt32 {
		q.Fail(fmt.Errorf("call %s: a launch of %d blocks (take another shape, or state the schedule's Multiples)",
			c.name, c.blocks))
		return
	}
	c.params[0], c.params[1] = uint64(to.At), uint64(to.Bytes)
	for i, x := range from {
		c.params[2*i+2], c.params[2*i+3] = uint64(x.At), uint64(x.Bytes)
	}
	dim := func(n int) driver.Dim3 { return driver.Dim3{X: uint32(n), Y: 1, Z: 1} }
	q.Launch(on, c.handle, dim(c.blocks), dim(c.threads), unsafe.Pointer(&c.params[0]))
}
