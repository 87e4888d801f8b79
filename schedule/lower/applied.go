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
	for _, o := range p.Schedule.Ops {
		for _, f := range o.Then {
			list = append(list, Applied{Of: o.Out, Function: f.String(), By: appliedBy(p, o, f)})
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

// appliedBy finds the step that applies a function of an operation's result. It is empty where none does.
func appliedBy(p *hostir.Program, o schedule.Op, f schedule.Func) (by string) {
	hostir.Steps(p.Body, func(s hostir.Step) {
		reads := func(tensor string) bool {
			return slices.ContainsFunc(s.Reads, func(v hostir.View) bool { return v.Buffer == tensor })
		}
		writes := slices.ContainsFunc(s.Writes, func(v hostir.View) bool { return v.Buffer == o.Out })
		takes := s.Func == string(f.Do)
		if len(f.In) > 0 && s.Do != hostir.Apply {
			takes = reads(f.In[0])
		}
		switch {
		case by == byOwnKernel:
		case s.Do == hostir.Apply && s.Func == string(f.Do) && (writes || reads(o.In[0])):
			by = byOwnKernel
		case s.Do == hostir.Sum && (takes || f.Do == schedule.ApplyToFP32 && s.By == hostir.WidenKernel && writes),
			s.Do == hostir.Packets && takes, s.Do == hostir.Scatter && takes:
			by = bySumKernel
		case by == "" && s.Do == hostir.Tiles && takes:
			by = byProductKernel
		case by == "" && s.Do == hostir.Product && takes && reads(o.In[len(o.In)-1]):
			by = byProductLibrary
		}
	})
	return by
}
