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

// calls reports whether the schedule has work of the caller's own.
func calls(s schedule.Schedule) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Call != "" })
}

// calls are the steps that the caller enqueues himself.
func (u *unit) calls() (list []hostir.Step) {
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		if s.Do == hostir.Call {
			list = append(list, s)
		}
	})
	return list
}

// callFields are the fields of a Plan for the caller's functions.
func (u *unit) callFields(g *jen.Group) {
	for _, s := range u.calls() {
		var from []string
		for _, v := range s.Reads {
			from = append(from, v.Buffer)
		}
		g.Add(doc(fmt.Sprintf("%s enqueues the caller's own work, %s of %s. Set it before Bind.", s.Func,
			s.Writes[0].Buffer, strings.Join(from, ", "))))
		g.Id(s.Func).Qual(planPath, "Call")
		g.Line()
	}
}

// called is a call of one.
func (b *body) called(n hostir.Step) jen.Code {
	all := func(v hostir.View) jen.Code {
		if !v.Index.IsZero() || !v.Peer.IsZero() || b.unit.counted(v) {
			b.fail("a call takes all of this rank's %s", v.Buffer)
		}
		return jen.Id("p").Dot(unexported(v.Buffer)).Dot("All").Call()
	}
	args := []jen.Code{b.stream(n.Stream), jen.Lit(n.Func), jen.Id("p").Dot(n.Func), all(n.Writes[0])}
	for _, v := range n.Reads {
		args = append(args, all(v))
	}
	return jen.Id("q").Dot("Call").Call(args...)
}

// checkCalls refuses names that a Plan has another use for.
func (u *unit) checkCalls() error {
	base := reflect.TypeFor[*plan.Plan]()
	for _, s := range u.calls() {
		if _, taken := base.MethodByName(s.Func); taken || s.Func == base.Elem().Name() {
			return fmt.Errorf("the call %s: a Plan has a method or a field of that name (rename it)", s.Func)
		}
	}
	return nil
}
