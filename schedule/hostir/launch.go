package hostir

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// Launch is the launch of a call by the caller's kernel: a function in a file beside the schedules. Without a File
// there is no kernel. Its expressions are of extents, and have no indices.
type Launch struct {
	File, Kernel string
	Blocks       Expr
	Threads      int // of a block
	Args         []Expr
}

// with rewrites the expressions.
func (l Launch) with(p Parts) Launch {
	l.Blocks = p.expr("the blocks of "+l.Kernel, l.Blocks)
	l.Args = slices.Clone(l.Args)
	for i, a := range l.Args {
		l.Args[i] = p.expr("an argument of "+l.Kernel, a)
	}
	return l
}

// String is " by attention(N/D, M) of attention.cu, M/64 x 256 threads"; empty without a file.
func (l Launch) String() string {
	if l.File == "" {
		return ""
	}
	var args []string
	for _, a := range l.Args {
		args = append(args, a.String())
	}
	return fmt.Sprintf(" by %s(%s) of %s, %s x %d threads", l.Kernel, strings.Join(args, ", "), l.File,
		l.Blocks, l.Threads)
}

// LaunchOf is how a kernel of the caller's is launched in programs of a schedule; path is that of the kernel there.
func LaunchOf(s schedule.Schedule, path string, k schedule.Kernel) (l Launch, err error) {
	if k.File == "" {
		return l, nil
	}
	l = Launch{File: k.File, Kernel: k.Name, Threads: k.BlockThreads()}
	if l.Blocks, err = number(s, path+".Blocks", k.Blocks); err != nil {
		return l, err
	}
	for i, text := range k.Args {
		e, err := number(s, fmt.Sprintf("%s.Args[%d]", path, i), text)
		if err != nil {
			return l, err
		}
		l.Args = append(l.Args, e)
	}
	return l, nil
}

// number reads an expression in the extents of the schedule's tensors.
func number(s schedule.Schedule, path, text string) (Expr, error) {
	e, err := ParseExpr(text)
	if err != nil {
		return e, schedule.Refused(path, "write it like M*N/D", "%s", err.Error())
	}
	known := symbols(s)
	e.Vars(func(name string) {
		if !slices.Contains(known, name) && err == nil {
			err = schedule.Refused(path, "use "+strings.Join(known, ", "), "%q has %s, which is no extent here",
				text, name)
		}
	})
	return e, err
}

// symbols are the extents that tensors have, and the ranks.
func symbols(s schedule.Schedule) []string {
	known := []string{string(schedule.D)}
	for _, t := range s.Tensors {
		for _, a := range t.Axes {
			if name := string(a.Extent); !a.Extent.Constant() && !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
	}
	return known
}
