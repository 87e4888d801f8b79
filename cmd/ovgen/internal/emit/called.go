package emit

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// calls reports whether a schedule has calls of the caller's functions or kernels.
func calls(s schedule.Schedule) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Call != "" })
}

// calls lists the calls of the program's steps.
func (u *unit) calls() (list []hostir.Call) {
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		if x, calls := s.Do.(hostir.Call); calls {
			list = append(list, x)
		}
	})
	return list
}

// callKernel is the field of a Plan for the kernel of a call.
func callKernel(call string) string { return "kernel" + call }

// callFields are the fields of a Plan for the caller's functions.
func (u *unit) callFields(g *jen.Group) {
	for _, s := range u.calls() {
		g.Add(doc(u.callText(s, "Bind", "leave it nil")))
		g.Id(s.Name).Qual(planPath, "Call")
		g.Line()
	}
}

// callText describes a call: its work, when the caller sets its function, and how the caller leaves it unset.
func (u *unit) callText(s hostir.Call, before, unset string) string {
	var from []string
	for _, v := range s.Operands {
		from = append(from, u.onRank(v.Buffer))
	}
	text := fmt.Sprintf("%s enqueues the caller's own work, %s of %s in this rank's memory. Set it before %s",
		s.Name, u.onRank(s.To.Buffer), list(from), before)
	if s.Launch.File != "" {
		text += fmt.Sprintf(", or %s: %s of %s does it then", unset, s.Launch.Kernel, s.Launch.File)
	}
	return text + "."
}

// onRank is a buffer with its shape on a rank: "Query [M, N/D]".
func (u *unit) onRank(buffer string) string {
	b, ok := u.program.Buffer(buffer)
	if !ok {
		return buffer
	}
	var axes []string
	for _, a := range b.Tensor.Axes {
		axes = append(axes, inMemory(a)...)
	}
	return fmt.Sprintf("%s [%s]", buffer, strings.Join(axes, ", "))
}

// called enqueues a call: by its kernel, or by the caller's function.
func (b *body) called(on hostir.StreamRef, x hostir.Call) jen.Code {
	all := func(v hostir.View) jen.Code {
		if !v.Index.IsZero() && !b.unit.allParts(v) || !v.Peer.IsZero() {
			b.fail("a call takes all of this rank's %s", v.Buffer)
		}
		return jen.Id("p").Dot(unexported(v.Buffer)).Dot("All").Call()
	}
	call, args := jen.Id("q").Dot("Call"), []jen.Code{b.stream(on), jen.Lit(x.Name)}
	if x.Launch.File != "" {
		call, args = jen.Id("p").Dot(callKernel(x.Name)).Dot("Launch"), []jen.Code{jen.Id("q"), b.stream(on)}
	}
	to := all(x.To)
	if x.Scales.Buffer != "" {
		to = jen.Id("p").Dot(unexported(x.To.Buffer)).Dot("With").Call(jen.Id("p").Dot(unexported(x.Scales.Buffer)))
	}
	args = append(args, jen.Id("p").Dot(x.Name), to)
	for _, v := range x.Operands {
		args = append(args, all(v))
	}
	return call.Call(args...)
}

// kernelCallFields are the fields of a Plan for the kernels of calls.
func (u *unit) kernelCallFields(g *jen.Group) {
	for _, s := range u.kernelCalls() {
		g.Id(callKernel(s.Name)).Op("*").Qual(kernelsPath, "PlanCall")
	}
}

// declareCalls makes the kernels of calls a part of the plan.
func (u *unit) declareCalls(expr goExpr) (code []jen.Code) {
	for _, s := range u.kernelCalls() {
		args := []jen.Code{jen.Id("b"), jen.Lit(s.Name), jen.Id("s").Dot("Type"), expr(s.Launch.Blocks),
			jen.Lit(s.Launch.Threads)}
		for _, a := range s.Launch.Args {
			args = append(args, expr(a))
		}
		code = append(code, setField(callKernel(s.Name), jen.Id("table").Dot("Call").Call(args...)))
	}
	return code
}

// kernelCalls lists the calls that kernels of the caller do.
func (u *unit) kernelCalls() []hostir.Call {
	return slices.DeleteFunc(u.calls(), func(s hostir.Call) bool { return s.Launch.File == "" })
}

// checkCalls refuses names of calls that a Plan uses for a method or a field.
func (u *unit) checkCalls() error {
	base := reflect.TypeFor[*plan.Plan]()
	for _, s := range u.calls() {
		if _, taken := base.MethodByName(s.Name); taken || s.Name == base.Elem().Name() {
			return fmt.Errorf("the call %s: a Plan has a method or a field of that name (rename it)", s.Name)
		}
	}
	return nil
}
