package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/templates"
)

// make launches the kernel of formulas, with what it is told of rows and heads.
func (b *body) make(on hostir.StreamRef, n hostir.Apply, operands []jen.Code) []jen.Code {
	i := slices.IndexFunc(b.unit.kernels.Kernels, func(k kernels.Kernel) bool {
		return k.Made != nil && k.Made.Key == n.Func
	})
	if i < 0 {
		return nil // table has said why
	}
	k := b.unit.kernels.Kernels[i]
	set := jen.Id("p").Dot("kernels").Dot("Function").Call(jen.Lit(k.Made.Word))
	if k.Rowed() {
		set = set.Dot("Count").Call(b.columns("columns"+exported(n.To.Buffer), "of a row", n.Columns))
	}
	for _, width := range schedule.Heads(n.Nodes()) {
		set = set.Dot("Count").Call(b.width(hostir.Extent(width)))
	}
	args := []jen.Code{jen.Id("q"), b.stream(on), b.address(n.To), b.bytes(n.To)}
	return []jen.Code{set.Dot("Make").Call(append(args, operands...)...)}
}

// kernelMade is the kernel of formulas, whose word no other formula of the package has.
func (u *unit) kernelMade(by string, s hostir.Apply, list []kernels.Kernel) (kernels.Kernel, error) {
	k, code, err := templates.Formula{Trees: s.Makes}.Kernel()
	if err != nil {
		return kernels.Kernel{Kind: kernels.Kind(by)}, err
	}
	first := s.Word
	if slices.Contains(schedule.Functions(), schedule.FuncKind(first)) {
		first += " formula"
	}
	for n, word := 1, first; k.Made.Word == ""; n++ {
		if n > 1 {
			word = fmt.Sprintf("%s %d", first, n)
		}
		taken := func(o kernels.Kernel) bool { return o.Makes() && o.Made.Word == word && o.Made.Key != s.Func }
		if !slices.ContainsFunc(list, taken) {
			k.Made.Word = word
		}
	}
	u.formulas[k.Made.Word] = code
	return k, nil
}
