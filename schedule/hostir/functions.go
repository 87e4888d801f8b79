package hostir

import (
	"fmt"
	"slices"
	"strings"
)

// FunctionBy is a function of a schedule, and the part of a program that applies it.
type FunctionBy struct {
	Of       string `json:"of"` // the result
	Function string `json:"function"`
	By       string `json:"by"`
}

// String is "R: add(A) by the kernel that sums".
func (f FunctionBy) String() string { return f.Of + ": " + f.Function + " by " + f.By }

// Parts of a program that apply functions.
const (
	byProductLibrary = "the library of products"
	byProductKernel  = "the kernel that multiplies"
	byFewRowsKernel  = "the kernel that multiplies few rows"
	bySumKernel      = "the kernel that sums"
	byRowsKernel     = "the kernel that sends them"
	byOwnKernel      = "a kernel of its own"
)

// FunctionsBy lists the functions of a program's schedule, each with the part that applies it.
func (p *Program) FunctionsBy() (list []FunctionBy) {
	for i, o := range p.Schedule.Ops {
		for j, f := range o.Then {
			by := p.appliedBy(Function{Op: i, Then: j})
			list = append(list, FunctionBy{Of: o.Out, Function: f.String(), By: by})
		}
	}
	return list
}

// Sentences are the functions, grouped by the part that applies them: "add(A) of R by the kernel that sums; gelu of X
// by a kernel of its own".
func Sentences(list []FunctionBy) string {
	var by []string
	of := map[string][]string{}
	for _, a := range list {
		if of[a.By] == nil {
			by = append(by, a.By)
		}
		of[a.By] = append(of[a.By], a.Function+" of "+a.Of)
	}
	var text []string
	for _, b := range by {
		text = append(text, fmt.Sprintf("%s by %s", strings.Join(of[b], ", "), b))
	}
	return strings.Join(text, "; ")
}

// applies has the parts of a program that apply functions, by their work.
var applies = map[Kind]string{
	ProductKind: byProductLibrary,
	SumKind:     bySumKernel,
	ApplyKind:   byOwnKernel,

	Tiles{}.Kind():        byProductKernel,
	Scatter{}.Kind():      bySumKernel,
	Packets{}.Kind():      bySumKernel,
	PacketSpread{}.Kind(): bySumKernel,
	PacketRows{}.Kind():   byRowsKernel,
}

// appliedBy is the part of a program that applies a function; empty: none does.
func (p *Program) appliedBy(f Function) (by string) {
	Steps(p.Body, func(s Step) {
		switch {
		case !slices.Contains(s.Applies, f):
		case s.By == FewRowsKernel:
			by = byFewRowsKernel
		case s.By == NarrowKernel, s.By == SquaresKernel:
			by = byProductKernel
		default:
			by = applies[s.Kind()]
		}
	})
	return by
}
