package simulate

import (
	"fmt"
	"math"
	"unsafe"

	"ovgen/generated/layernormlinear"
	"ovgen/generated/llamalayer"
	"ovgen/generated/mixedmlp"
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/verify/harness"
	"ovgen/verify/ops"
)

// call enqueues what stands for the caller's own work.
func (r *rank) call(s driver.Stream, o ops.Op) error {
	var list []plan.Range
	for _, u := range o.Uses {
		list = append(list, plan.Range{At: r.ptr(u.At), Bytes: u.Bytes})
	}
	last := len(list) - 1
	return harness.StandIn(r.Driver, driver.FP32.Size())(s, list[last], list[:last])
}

// programs have the kernels of functions that LlamaLayer has not.
var programs = map[schedule.FuncKind]*plan.Program{
	schedule.ApplyFromFP32: &mixedmlp.Program, schedule.ApplyLayerNorm: &layernormlinear.Program,
}

// operands are how many each function has that has not two.
var operands = map[schedule.FuncKind]int{schedule.ApplyFromFP32: 1, schedule.ApplyLayerNorm: 3}

// load makes a function known: a kernel of a generated package.
func (r *rank) load(function string) error {
	if r.functions[function] != 0 {
		return nil
	}
	code := llamalayer.Program.Code
	if p, ok := programs[schedule.FuncKind(function)]; ok {
		code = p.Code
	}
	m, err := r.ModuleLoadData(code)
	if err != nil {
		return err
	}
	r.functions[function], err = r.ModuleGetFunction(m, function+"_"+driver.FP32.String())
	return err
}

// apply launches a function's kernel: its parameters are the result, how many elements that has, the operands and,
// where the last is a row or a table, how many elements that has, and then a norm's epsilon or how wide heads are.
func (r *rank) apply(s driver.Stream, o ops.Op) error {
	n, want := len(o.Uses)-1, 2
	if other, ok := operands[schedule.FuncKind(o.Form)]; ok {
		want = other
	}
	if n != want {
		return fmt.Errorf("a function of %d operands", n)
	}
	to, last := o.Uses[n], o.Uses[n-1]
	params := []uint64{uint64(r.ptr(to.At)), uint64(to.Bytes / 4)}
	for _, u := range o.Uses[:n] {
		params = append(params, uint64(r.ptr(u.At)))
	}
	switch schedule.FuncKind(o.Form) {
	case schedule.ApplyRMSNorm, schedule.ApplyLayerNorm:
		params = append(params, uint64(last.Bytes/4), math.Float64bits(o.Epsilon))
	case schedule.ApplyRotary:
		params = append(params, uint64(last.Bytes/4), uint64(o.Width))
	}
	return r.LaunchKernel(r.functions[o.Form], driver.Dim3{X: 2, Y: 1, Z: 1}, driver.Dim3{X: 4, Y: 1, Z: 1}, s,
		unsafe.Pointer(&params[0]))
}
