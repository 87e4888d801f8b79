package emit

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
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
	})
	f.Line()
	f.Add(doc("maxExtent keeps the bytes of every tensor within an int64."))
	f.Const().Id("maxExtent").Op("=").Lit(1).Op("<<").Lit(bits.TrailingZeros(schedule.MaxExtent))
	f.Line()
	f.Add(doc("Check reports everything that keeps this many ranks from running the shape."))
	f.Func().Params(jen.Id("s").Id("Shape")).Id("Check").Params(jen.Id("ranks").Int()).Error().
		Block(u.check(symbols)...)
	f.Line()
	f.Add(doc("String is the shape as errors print it."))
	format := make([]string, len(symbols))
	args := make([]jen.Code, len(symbols))
	for i, s := range symbols {
		format[i], args[i] = s+" %d", jen.Id("s").Dot(s)
	}
	f.Func().Params(jen.Id("s").Id("Shape")).Id("String").Params().String().Block(
		jen.Return(jen.Qual("fmt", "Sprintf").Call(append(append([]jen.Code{jen.Lit(strings.Join(format, ", ") +
			", %s")}, args...), jen.Id("s").Dot("Type"))...)))
}

// extents says of which symbols each rank has a part, and of which all.
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
		text = fmt.Sprintf("%s %s of each rank's own tensors.", list(own), are(own)) + text
	}
	if len(spread) > 0 {
		text = fmt.Sprintf("%s %s counted over all ranks, of which each has a part. ", list(spread), are(spread)) + text
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

// are is the verb for so many.
func are(words []string) string {
	if len(words) == 1 {
		return "is"
	}
	return "are"
}

// check is the body of Check.
func (u *unit) check(symbols []string) []jen.Code {
	extents := make([]jen.Code, len(symbols))
	for i, s := range symbols {
		extents[i] = jen.Values(jen.Lit(s), jen.Id("s").Dot(s))
	}
	errorf := func(args ...jen.Code) jen.Code {
		return jen.Id("errs").Op("=").Append(jen.Id("errs"), jen.Qual("fmt", "Errorf").Call(args...))
	}
	body := []jen.Code{
		jen.If(jen.Id("ranks").Op("<").Lit(1)).Block(jen.Return(jen.Qual("fmt", "Errorf").Call(jen.Lit("no ranks: %d"),
			jen.Id("ranks")))),
		jen.Var().Id("errs").Index().Error(),
		jen.For(jen.List(jen.Id("_"), jen.Id("e")).Op(":=").Range().Index().Struct(jen.Id("name").String(),
			jen.Id("extent").Int()).Values(extents...)).Block(
			jen.If(jen.Id("e").Dot("extent").Op("<").Lit(1).Op("||").
				Id("e").Dot("extent").Op(">").Id("maxExtent")).Block(
				errorf(jen.Lit("%s is %d: it must lie between 1 and %d"), jen.Id("e").Dot("name"),
					jen.Id("e").Dot("extent"), jen.Id("maxExtent")),
			)),
	}
	if u.limited() {
		body = append(body, jen.If(jen.Id("ranks").Op(">").Id("maxRanks")).Block(
			errorf(jen.Lit("%d ranks: the kernels serve at most %d"), jen.Id("ranks"), jen.Id("maxRanks"))))
	}
	body = append(body, jen.If(jen.Id("err").Op(":=").Qual(planPath, "CheckElements").Call(u.factors(symbols)...),
		jen.Len(jen.Id("errs")).Op("==").Lit(0).Op("&&").Id("err").Op("!=").Nil()).Block(
		jen.Id("errs").Op("=").Append(jen.Id("errs"), jen.Id("err"))))
	for _, c := range u.program.Checks {
		by, text := u.divisor(c)
		left := by.Clone()
		if c.Times > 1 && c.By != "1" {
			left = jen.Parens(left)
		}
		if _, err := strconv.Atoi(string(c.Extent)); err == nil {
			body = append(body, jen.If(shapeExpr(c.Extent).Op("%").Add(left).Op("!=").Lit(0)).Block(
				errorf(jen.Lit(fmt.Sprintf("the extent %s is no multiple of %s%%d", c.Extent, text)), by)))
			continue
		}
		body = append(body, jen.If(shapeExpr(c.Extent).Op("%").Add(left).Op("!=").Lit(0)).Block(
			errorf(jen.Lit(fmt.Sprintf("%s is %%d: it must be a multiple of %s%%d", c.Extent, text)),
				shapeExpr(c.Extent), by)))
	}
	types := make([]jen.Code, len(u.program.Schedule.Types))
	for i, t := range u.program.Schedule.Types {
		types[i] = jen.Qual(devicePath, strings.ToUpper(string(t)))
	}
	return append(body,
		jen.Switch(jen.Id("s").Dot("Type")).Block(
			jen.Case(types...),
			jen.Default().Block(errorf(jen.Lit("type %v is not one of "+strings.Join(u.typeWords(), ", ")),
				jen.Id("s").Dot("Type"))),
		),
		jen.Return(jen.Qual("errors", "Join").Call(jen.Id("errs").Op("..."))),
	)
}

// factors are the ranks and all extents of tensors, symbols and constants.
func (u *unit) factors(symbols []string) []jen.Code {
	list := []jen.Code{jen.Id("ranks")}
	for _, s := range symbols {
		list = append(list, jen.Id("s").Dot(s))
	}
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

// divisor is what a requirement divides by, and what an error calls it.
func (u *unit) divisor(c hostir.Divide) (by *jen.Statement, text string) {
	by = shapeExpr(c.By)
	if c.By == schedule.D {
		text = "the ranks, "
	}
	switch {
	case c.Times <= 1:
		return by, text
	case c.By == "1":
		return jen.Lit(int(c.Times)), ""
	case c.By == schedule.D:
		text = fmt.Sprintf("%d times the ranks, ", c.Times)
	}
	return jen.Lit(int(c.Times)).Op("*").Add(by), text
}

// shapeExpr is an extent as Check sees it.
func shapeExpr(e schedule.Extent) *jen.Statement {
	switch {
	case e == schedule.D:
		return jen.Id("ranks")
	case slices.Contains(symbols, e):
		return jen.Id("s").Dot(string(e))
	}
	return jen.Id(string(e))
}

// symbols that a shape can bind, in the order of its fields.
var symbols = []schedule.Extent{schedule.M, schedule.K, schedule.N, schedule.N2, schedule.N3, schedule.F, schedule.P}

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
	for _, e := range symbols {
		if used[e] {
			list = append(list, string(e))
		}
	}
	return list
}
