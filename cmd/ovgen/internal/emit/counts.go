package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule/hostir"
)

// counts is the number of counts of uneven parts that Bind takes: none, one for each rank, or one for each pair of
// ranks.
func (u *unit) counts() (n *jen.Statement, remark string) {
	if _, balanced := u.program.Balanced(); balanced {
		return nil, ""
	}
	const ranks = 7 // any number would do
	switch n := u.program.CountsTaken(ranks); {
	case n == 0:
		return nil, ""
	case n <= ranks:
		return jen.Id("b").Dot("Size").Call(), "of the uneven parts, one for each rank; the same on all ranks"
	}
	return jen.Id("b").Dot("Size").Call().Op("*").Id("b").Dot("Size").Call(),
		"of the uneven parts: what rank q has for rank c is number q*D+c; the same on all ranks"
}

// indexed reports whether the program takes chunks of a buffer by their number.
func (u *unit) indexed(name string) (yes bool) {
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		for _, v := range slices.Concat(s.Views()) {
			yes = yes || v.Buffer == name && !v.Index.IsZero()
		}
	})
	return yes
}

// uneven wraps the declaration of a buffer whose chunks have counts. If the count does not depend on the chunk, and the
// program always takes the whole buffer, the buffer has one chunk on each rank.
func (u *unit) uneven(x hostir.Buffer, declared jen.Code, unit jen.Code) jen.Code {
	ofRank, ofChunk := "_", "_"
	index := x.Counts.Text(func(name string) string {
		switch name {
		case "q":
			ofRank = name
		case "c":
			ofChunk = name
		case "D":
			return "b.Size()"
		case "L":
			return "b.PerHost()"
		}
		return name
	})
	chunks := jen.Lit(1)
	switch {
	case x.OfHosts():
		chunks = jen.Id("b").Dot("Hosts").Call()
	case ofChunk != "_" || u.indexed(x.Name):
		chunks = jen.Id("b").Dot("Size").Call()
	}
	return jen.Id("b").Dot("Uneven").Call(declared, unit, chunks,
		jen.Func().Params(jen.List(jen.Id(ofRank), jen.Id(ofChunk)).Int()).Int().Block(jen.Return(jen.Id(index))))
}
