package emit

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/plan"
	"ovgen/schedule"
)

// shape is type Shape with its Check.
func (u *unit) shape(f *jen.File) {
	symbols := u.symbols()
	f.Line()
	f.Add(docf("Shape is the size and element type of %s, the same on all ranks. %s", article(u.program.Name),
		u.extents(symbols)))
	f.Type().Id("Shape").StructFunc(func(g *jen.Group) {
		ids := make([]jen.Code, len(symbols))
		for i, s := range symbols {
			ids[i] = jen.Id(s)
		}
		g.List(ids...).Int()
		g.Id("Type").Qual(devicePath, "Type").Comment(strings.Join(u.typeWords(), ", "))
		for _, name := range u.program.Schedule.Numbers() {
			g.Id(name).Float32().Comment(numberIs(name))
		}
	})
	extents := []jen.Code{jen.Id("s").Dot("Type")}
	for _, x := range symbols {
		extents = append(extents, jen.Id("s").Dot(x))
	}
	check := jen.Id("Program").Dot("Check").Call(append([]jen.Code{jen.Id("ranks")}, extents...)...)
	text := jen.Id("Program").Dot("Shape").Call(extents...)
	if names := u.program.Schedule.Numbers(); len(names) > 0 {
		checks := []jen.Code{check}
		for _, name := range names {
			checks = append(checks, number(name, "Check"))
			text = text.Op("+").Add(number(name, "String"))
		}
		check = jen.Qual("errors", "Join").Call(checks...)
	}
	f.Line()
	f.Add(doc("Check reports everything that keeps this many ranks from running the shape."))
	f.Add(oneLine(jen.Func().Params(jen.Id("s").Id("Shape")).Id("Check").Params(jen.Id("ranks").Int()).Error(),
		jen.Return(check)))
	f.Line()
	f.Add(doc("String is the shape as errors print it."))
	f.Add(oneLine(jen.Func().Params(jen.Id("s").Id("Shape")).Id("String").Params().String(), jen.Return(text)))
}

// extents lists the symbols that are spread over the ranks, and the symbols that are whole on each.
func (u *unit) extents(symbols []string) string {
	cut := map[string]bool{}
	for _, t := range u.program.Schedule.Tensors {
		if axis, _, ok := t.Sharded(); ok {
			cut[string(t.Axes[axis].Extent)] = true
		}
	}
	var spread, own []string
	text := ""
	for _, s := range symbols {
		switch {
		case s == string(schedule.P):
			text = " P is the most rows that one rank's part may have."
		case cut[s]:
			spread = append(spread, s)
		default:
			own = append(own, s)
		}
	}
	if len(own) > 0 {
		text = fmt.Sprintf("%s %s counted on each rank.", list(own), are(own)) + text
	}
	if len(spread) > 0 {
		text = fmt.Sprintf("%s %s counted over all ranks. ", list(spread), are(spread)) + text
	}
	return strings.TrimSpace(text)
}

// list is "M, K and N".
func list(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// are is "is" or "are", by the number of words.
func are(words []string) string {
	if len(words) == 1 {
		return "is"
	}
	return "are"
}

// takes are the fields of Program that limit its shapes.
func (u *unit) takes() []jen.Code {
	var names, divides, types []jen.Code
	for _, x := range u.symbols() {
		names = append(names, jen.Lit(x))
	}
	for _, c := range u.program.Checks {
		divides = append(divides, fieldsOf(reflect.ValueOf(plan.Divide{
			Extent: string(c.Extent), By: string(c.By), Times: int(c.Times), With: string(c.With),
			Heads: string(c.Heads)}), inLine))
	}
	for _, t := range u.typeWords() {
		types = append(types, jen.Qual(driverPath, t))
	}
	values := []jen.Code{set("Extents", jen.Index().String().Values(names...))}
	if list := u.constantExtents(); len(list) > 0 {
		values = append(values, set("Constants", jen.Index().Int().Values(list...)))
	}
	if n := u.mostAxes(); n > 2 {
		values = append(values, set("Axes", jen.Lit(n)))
	}
	if len(divides) > 0 {
		values = append(values, set("Divides", jen.Index().Qual(planPath, "Divide").Values(divides...)))
	}
	values = append(values, set("Types", jen.Index().Qual(driverPath, "Type").Values(types...)))
	if u.limited() {
		values = append(values, set("MaxRanks", jen.Lit(u.maxRanks())))
	}
	return values
}

// constantExtents are the extents of tensors that are numbers, each once.
func (u *unit) constantExtents() (list []jen.Code) {
	seen := map[int]bool{}
	for _, t := range u.program.Schedule.Tensors {
		for _, a := range t.Axes {
			if n, err := strconv.Atoi(string(a.Extent)); err == nil && !seen[n] {
				seen[n] = true
				list = append(list, jen.Lit(n))
			}
		}
	}
	return list
}

// mostAxes is the largest number of axes of a tensor, not counting the axis of ranks.
func (u *unit) mostAxes() (most int) {
	for _, t := range u.program.Schedule.Tensors {
		ofRanks := func(a schedule.Axis) bool { return a.Extent == schedule.D }
		most = max(most, len(slices.DeleteFunc(slices.Clone(t.Axes), ofRanks)))
	}
	return most
}

// typeWords are the accepted types as texts.
func (u *unit) typeWords() []string {
	var words []string
	for _, t := range u.program.Schedule.Types {
		words = append(words, strings.ToUpper(string(t)))
	}
	return words
}

// symbols are the extents that the program's shape binds.
func (u *unit) symbols() []string {
	used := map[schedule.Extent]bool{}
	for _, t := range u.program.Schedule.Tensors {
		for _, a := range t.Axes {
			used[a.Extent] = true
			for _, s := range a.Outer {
				used[s.Most] = true
			}
		}
	}
	var list []string
	for _, e := range schedule.Extents() {
		if used[e] {
			list = append(list, string(e))
		}
	}
	return list
}
