package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/templates"
)

// number is a call, in emitted code, of a method of package numbers for a number of a Shape.
func number(name, method string) *jen.Statement {
	is := jen.Id("s").Dot(name)
	if name == schedule.Epsilon {
		return jen.Qual(numbersPath, "Epsilon").Call(is).Dot(method).Call()
	}
	return jen.Qual(numbersPath, "Named").Call(jen.Lit(name), is).Dot(method).Call()
}

// numberIs describes a number of a Shape.
func numberIs(name string) string {
	if name == schedule.Epsilon {
		return "what norms add to the mean of squares; 0 stands for 1e-5"
	}
	return "of formulas"
}

// make launches the kernel of formulas, with the widths of rows and heads.
func (b *body) make(on hostir.StreamRef, n hostir.Apply) []jen.Code {
	set, operands := b.function(n)
	if set == nil {
		return nil // table has reported the error
	}
	args := []jen.Code{jen.Id("q"), b.stream(on), b.address(n.To), b.bytes(n.To), b.address(n.X)}
	return []jen.Code{set.Dot("Make").Call(append(args, operands...)...)}
}

// function is the call that chooses the kernel of formulas and passes their widths and numbers. operands are the
// addresses of the tensors that the formulas read beside X, and of the scales that they leave. set is nil where the
// package has no such kernel.
func (b *body) function(n hostir.Apply) (set *jen.Statement, operands []jen.Code) {
	return b.functionOf(n, func(k kernels.Kernel) *kernels.Made { return k.Made })
}

// functionOf is function where a kernel has the formulas as its function of a kind.
func (b *body) functionOf(n hostir.Apply, kind func(kernels.Kernel) *kernels.Made) (set *jen.Statement,
	operands []jen.Code) {
	of, _, err := b.unit.formula(n).Kernel()
	i := slices.IndexFunc(b.unit.kernels.Kernels, func(k kernels.Kernel) bool { return madeAlike(kind(k), of.Made) })
	if err != nil || i < 0 {
		return nil, nil
	}
	made := kind(b.unit.kernels.Kernels[i])
	set = jen.Id("p").Dot("kernels").Dot("Function").Call(jen.Lit(made.Word))
	if of.Rowed() {
		set = set.Dot("Count").Call(b.columns("columns"+exported(n.To.Buffer), "of a row", n.Columns))
	}
	for _, width := range schedule.Heads(n.Nodes()) {
		set = set.Dot("Count").Call(b.width(hostir.Extent(width)))
	}
	var told []string
	for _, x := range n.Chain() {
		for _, name := range schedule.Params(x.Nodes()) {
			if !slices.Contains(told, name) {
				told, set = append(told, name), set.Dot("Number").Call(jen.Id("p").Dot(unexported(name)))
			}
		}
	}
	for i, x := range n.Chain() {
		if i > 0 {
			operands = append(operands, b.address(x.To))
		}
		for _, v := range x.Operands {
			operands = append(operands, b.address(v))
		}
		if x.Scales.Buffer != "" {
			operands = append(operands, b.address(x.Scales))
		}
	}
	return set, operands
}

// formula is the formula of a step, with the types that its tensors have whatever the plan's type is.
func (u *unit) formula(n hostir.Apply) templates.Formula {
	f := templates.Formula{Trees: n.Makes, Types: map[string]driver.Type{"": u.typeOf(n.X)}, Result: u.typeOf(n.To),
		Scales: u.typeOf(n.Scales)}
	for i, o := range schedule.Operands(n.Nodes()) {
		f.Types[o.Tensor] = u.typeOf(n.Operands[i])
	}
	for _, then := range n.Then {
		f.Then = append(f.Then, u.formula(then))
	}
	return f
}

// finish is the call that chooses the function of each element of a sum, with the columns of a row and its numbers.
func (b *body) finish(n hostir.Step, x hostir.Finish) jen.Code {
	of, _, err := b.unit.finish(n).Finish()
	i := slices.IndexFunc(b.unit.kernels.Kernels, func(k kernels.Kernel) bool { return madeAlike(k.Finish, &of) })
	if err != nil || i < 0 {
		return jen.Null() // table has reported the error
	}
	set := jen.Id("p").Dot("kernels").Dot("Function").Call(jen.Lit(b.unit.kernels.Kernels[i].Finish.Word))
	if of.Rowed() {
		set = set.Dot("Count").Call(b.columns("columns"+exported(n.Result().Buffer), "of a row", x.Columns))
	}
	for _, name := range schedule.Params(x.Nodes()) {
		set = set.Dot("Number").Call(jen.Id("p").Dot(unexported(name)))
	}
	return set
}

// finish is the formula of each element of a step's sum, with the types that its tensors have whatever the plan's type
// is.
func (u *unit) finish(n hostir.Step) templates.Formula {
	x := hostir.FinishOf(n.Do)
	f := templates.Formula{Trees: x.Makes, Types: map[string]driver.Type{}}
	for i, o := range schedule.Operands(x.Nodes()) {
		f.Types[o.Tensor] = u.typeOf(x.Operands[i])
	}
	return f
}

// finished is the function of each element of a step's sum.
func (u *unit) finished(n hostir.Step, list []kernels.Kernel) (*kernels.Made, error) {
	made, code, err := u.finish(n).Finish()
	if err != nil {
		return nil, err
	}
	name(&made, true, hostir.FinishOf(n.Do).Word, list)
	u.formulas[made.Word] = code
	return &made, nil
}

// widened is the function of each element of all ranks' rows.
func (u *unit) widened(x hostir.Apply, list []kernels.Kernel) (*kernels.Made, error) {
	k, code, err := u.formula(x).Kernel()
	if err != nil {
		return nil, err
	}
	name(k.Made, true, x.Word, list)
	u.formulas[k.Made.Word] = code
	return k.Made, nil
}

// typeOf is the type of a view's elements where it does not depend on the plan; 0: it is the plan's type.
func (u *unit) typeOf(v hostir.View) driver.Type {
	b, _ := u.program.Buffer(v.Buffer)
	own, _ := driver.ParseType(string(b.Tensor.Type))
	return own
}

// madeAlike reports whether two kernels apply the same functions to elements of the same types.
func madeAlike(a, b *kernels.Made) bool {
	return a != nil && b != nil && a.Form() == b.Form() && a.Type == b.Type && a.Scales == b.Scales && a.X == b.X &&
		slices.Equal(a.Operands, b.Operands) && slices.EqualFunc(a.Then, b.Then, func(a, b kernels.Made) bool {
		return madeAlike(&a, &b)
	})
}

// kernelMade is the kernel of formulas, with a name that no other formula of the package has.
func (u *unit) kernelMade(by string, s hostir.Apply, list []kernels.Kernel) (kernels.Kernel, error) {
	k, code, err := u.formula(s).Kernel()
	if err != nil {
		return kernels.Kernel{Kind: kernels.Kind(by)}, err
	}
	words := s.Word
	for _, then := range s.Then {
		words += ", " + then.Word
	}
	name(k.Made, false, words, list)
	u.formulas[k.Made.Word] = code
	return k, nil
}

// name gives a function words that no other function of the package has; finishes: it is of each element of a sum.
func name(made *kernels.Made, finishes bool, words string, list []kernels.Kernel) {
	for n, word := 1, words; made.Word == ""; n++ {
		if n > 1 {
			word = fmt.Sprintf("%s %d", words, n)
		}
		taken := func(o *kernels.Made, alike bool) bool {
			return o != nil && o.Word == word && !(alike && madeAlike(o, made))
		}
		if !slices.ContainsFunc(list, func(k kernels.Kernel) bool {
			return taken(k.Made, !finishes) || taken(k.Finish, finishes)
		}) {
			made.Word = word
		}
	}
}

// sameMade reports whether two kernels have no function, or functions alike.
func sameMade(a, b *kernels.Made) bool { return a == nil && b == nil || madeAlike(a, b) }
