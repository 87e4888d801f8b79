package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// findFunctions lists the functions that kernels of products apply, each once; the kernels of the table are there.
func (u *unit) findFunctions() error {
	var err error
	named := slices.Clone(u.kernels.Kernels)
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		x, ok := multiplied(s)
		if !ok || err != nil || x.Func == "" && len(x.Then.Makes) == 0 {
			return
		}
		f := fewrows.Function{Number: len(u.makings) + 1, Epilogue: x.Func}
		if len(x.Then.Makes) > 0 {
			var k kernels.Kernel
			if k, err = u.kernelMade(hostir.ElementsKernel, x.Then, named); err != nil {
				return
			}
			named, f.Made = append(named, k), k.Made
		}
		if u.functionOf(x) == nil {
			u.makings = append(u.makings, &f)
		}
	})
	return err
}

// multiplied is the product of a step by a kernel of products.
func multiplied(s hostir.Step) (x hostir.Product, ok bool) {
	x, ok = s.Do.(hostir.Product)
	return x, ok && s.By != ""
}

// functionOf is the function that the kernel of a product applies; nil: it applies none.
func (u *unit) functionOf(x hostir.Product) *fewrows.Function {
	var made *kernels.Made
	if len(x.Then.Makes) > 0 {
		k, _, err := u.formula(x.Then).Kernel()
		if err != nil {
			return nil // findFunctions has reported it
		}
		made = k.Made
	}
	i := slices.IndexFunc(u.makings, func(f *fewrows.Function) bool {
		return f.Epilogue == x.Func && (f.Made == nil && made == nil || madeAlike(f.Made, made))
	})
	if i < 0 || x.Func == "" && made == nil {
		return nil
	}
	return u.makings[i]
}

// functionsBy are the functions of one kind of kernels; nil among them: some products have none.
func (u *unit) functionsBy(by string) (list []*fewrows.Function) {
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		if x, ok := multiplied(s); ok && s.By == by {
			if f := u.functionOf(x); !slices.Contains(list, f) {
				list = append(list, f)
			}
		}
	})
	slices.SortFunc(list, func(a, b *fewrows.Function) int { return numberOf(a) - numberOf(b) })
	return list
}

// numberOf is the number of a function; 0: there is none.
func numberOf(f *fewrows.Function) int {
	if f == nil {
		return 0
	}
	return f.Number
}

// withFunctions is the Go of a family whose kernels apply functions.
func withFunctions(family *jen.Statement, functions []*fewrows.Function) *jen.Statement {
	if len(functions) == 1 && functions[0] == nil {
		return family
	}
	var args []jen.Code
	for _, f := range functions {
		if f == nil {
			args = append(args, jen.Nil())
		} else {
			args = append(args, jen.Id("functions").Index(jen.Lit(f.Number-1)))
		}
	}
	return family.Dot("With").Call(args...)
}

// making is the kernels of products in a field of the plan that apply a product's function, with what it takes.
func (b *body) making(field string, x hostir.Product) *jen.Statement {
	set := jen.Id("p").Dot(field)
	f := b.unit.functionOf(x)
	if f == nil {
		return set
	}
	to, args := jen.Code(jen.Lit(0)), []jen.Code{}
	if f.Made != nil {
		to = b.address(x.Then.To)
		for _, v := range x.Then.Operands {
			args = append(args, b.address(v))
		}
	}
	set = set.Dot("Making").Call(append([]jen.Code{jen.Lit(f.Number), to}, args...)...)
	for _, name := range schedule.Params(x.Then.Nodes()) {
		set = set.Dot("Number").Call(jen.Id("p").Dot(unexported(name)))
	}
	return set
}

// orBehind is a product by a kernel of few rows that applies a function, where one does, and else a product without it,
// with the kernel of the function behind.
func (b *body) orBehind(n hostir.Step, x hostir.Product, product, few, without jen.Code) []jen.Code {
	behind := []jen.Code{without}
	if len(x.Then.Makes) > 0 {
		behind = append(behind, b.make(n.Stream, x.Then)...)
	}
	return []jen.Code{jen.If(jen.Id("p").Dot("few").Dot("Makes").Call(product)).Block(few).Else().Block(behind...)}
}
