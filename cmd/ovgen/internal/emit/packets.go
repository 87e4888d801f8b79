package emit

import (
	"github.com/dave/jennifer/jen"

	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
)

// packets calls a kernel of packets. The kernel may finish the sum, apply formulas to it, and spread the results that
// have a landing in spread.
func (b *body) packets(n hostir.Step, x hostir.Sent, to hostir.View, of hostir.Packets,
	spread ...hostir.View) []jen.Code {
	before, terms := b.terms([]hostir.View{x.Each})
	set := b.summing(n, of.Added...)
	if len(of.Then.Makes) > 0 {
		set = b.rowsBy(set, of.Then)
	}
	args := []jen.Code{jen.Id("q"), b.stream(n.Stream), planField(x.Landing.Buffer)}
	if len(spread) > 0 {
		var landings []jen.Code
		for _, v := range spread {
			if v.Buffer == "" {
				landings = append(landings, jen.Nil())
			} else {
				landings = append(landings, planField(v.Buffer))
			}
		}
		args = append(args, jen.Index().Op("*").Qual(planPath, "Packets").Values(landings...))
	}
	args = append(args, b.address(to), b.bytes(x.Each))
	return append(before, set.Dot(kernels.Kind(n.By).Ident()).Call(append(args, terms...)...))
}

// rowsBy is the set whose next kernel of packets makes rows by formulas.
func (b *body) rowsBy(set *jen.Statement, x hostir.Apply) *jen.Statement {
	function, operands := b.function(x)
	return set.Dot("Making").Call(append([]jen.Code{function, b.address(x.To)}, operands...)...)
}

// rows calls a kernel that makes rows and sends its results as packets.
func (b *body) rows(n hostir.Step, x hostir.PacketRows) []jen.Code {
	args := []jen.Code{jen.Id("q"), b.stream(n.Stream), b.address(x.Make.X), b.bytes(x.Make.X)}
	for _, g := range x.Gathers() {
		var fields []jen.Code
		if g.To.Buffer != "" {
			fields = []jen.Code{set("Landing", planField(g.Landing.Buffer)), set("All", b.address(g.To)),
				set("Bytes", b.bytes(g.Each))}
		}
		if len(x.Then.Makes) > 0 && g.To.Buffer == x.Then.X.Buffer {
			fields = append(fields, set("Finished", b.address(x.Then.To)))
		}
		args = append(args, jen.Qual(kernelsPath, "Going").Values(fields...))
	}
	set := b.summing(n)
	if len(x.Then.Makes) > 0 {
		function, operands := b.functionOf(x.Then, func(k kernels.Kernel) *kernels.Made { return k.Finish })
		set = set.Dot("Finishing").Call(append([]jen.Code{function}, operands...)...)
	}
	return []jen.Code{b.rowsBy(set, x.Make).Dot(kernels.Kind(n.By).Ident()).Call(args...)}
}
