package hostir

import (
	"fmt"
	"slices"
	"strings"
)

// Launch is how a call is done by a kernel of the caller's: a function in a file beside the schedules.
// Without a File there is none. Its expressions are of extents, and index nothing.
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

// String is " by attention(N/D, M) of attention.cu, M/64 blocks of 256 threads"; empty without a file.
func (l Launch) String() string {
	if l.File == "" {
		return ""
	}
	var args []string
	for _, a := range l.Args {
		args = append(args, a.String())
	}
	return fmt.Sprintf(" by %s(%s) of %s, %s blocks of %d threads", l.Kernel, strings.Join(args, ", "), l.File,
		l.Blocks, l.Threads)
}
