package lower

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Applied is a function of a schedule, and the part of a program that applies it.
type Applied struct {
	Of       string `json:"of"` // the result
	Function string `json:"function"`
	By       string `json:"by"`
}

// String is "R: add(A) by the kernel that sums".
func (a Applied) String() string { return a.Of + ": " + a.Function + " by " + a.By }

// Parts of a program that apply functions.
const (
	byProductLibrary = "the library of products"
	byProductKernel  = "the kernel that multiplies"
	bySumKernel      = "the kernel that sums"
	byOwnKernel      = "a kernel of its own"
)

// Functions lists the functions of a lowered program, each with the part that applies it.
func Functions(p *hostir.Program) (list []Applied) {
	for i, o := range p.Schedule.Ops {
		for j, f := range o.Then {
			by := appliedBy(p, hostir.Function{Op: i, Then: j})
			list = append(list, Applied{Of: o.Out, Function: f.String(), By: by})
		}
	}
	return list
}

// Sentences are the functions, grouped by the part that applies them: "add(A) of R by the kernel that sums; gelu of X
// by a kernel of its own".
func Sentences(list []Applied) string {
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
var applies = map[hostir.Kind]string{
	hostir.ProductKind: byProductLibrary,
	hostir.SumKind:     bySumKernel,
	hostir.ApplyKind:   byOwnKernel,

	hostir.Tiles{}.Kind():        byProductKernel,
	hostir.Scatter{}.Kind():      bySumKernel,
	hostir.Packets{}.Kind():      bySumKernel,
	hostir.PacketSpread{}.Kind(): bySumKernel,
}

// appliedBy is the part of a program that applies a function; empty: none does.
func appliedBy(p *hostir.Program, f hostir.Function) (by string) {
	hostir.Steps(p.Body, func(s hostir.Step) {
		if slices.Contains(s.Applies, f) {
			by = applies[s.Kind()]
		}
	})
	return by
}

// functionsOf are the functions of an operation: those of a kernel of its own, or those that what makes its result
// applies.
func (d *draft) functionsOf(of schedule.Op, own bool) (list []hostir.Function) {
	for i, o := range d.original.Ops {
		for j, f := range o.Then {
			made := o.Out
			if sum, ok := d.sumsOnly[o.Out]; ok && j < sum.ends {
				made = sum.sum
			}
			if made == of.Out && !d.addsTerm(f) {
				list = append(list, hostir.Function{Op: i, Then: j})
			}
		}
	}
	n := max(len(list)-len(d.schedule.Own(of)), 0)
	if own {
		return list[n:]
	}
	return list[:n]
}
