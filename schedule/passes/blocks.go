package passes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// blocks refuses a kernel of the caller's own that some shape would launch with no block. Such a number of blocks
// rounds down: the kernel leaves elements unwritten of other shapes too, unless the schedule states what divides.
func blocks(p *hostir.Program) error {
	for i, o := range p.Schedule.Ops {
		if o.Kernel.File == "" {
			continue
		}
		number, err := hostir.ParseExpr(o.Kernel.Blocks)
		if err != nil {
			return err // the call's writer has read it
		}
		if at, found := unlaunched(number, p.Checks); found {
			return schedule.Refused(fmt.Sprintf("Ops[%d].Kernel.Blocks", i), stated(number, p),
				"%q, of %s, are 0 blocks at %s", o.Kernel.Blocks, o.Out, at)
		}
	}
	return nil
}

// far is how many times the least value of an extent its large value is.
const far = 1 << 12

// unlaunched finds a shape that New takes, of extents that are as small as they can be or large, at which there are no
// blocks.
func unlaunched(blocks hostir.Expr, checks []hostir.Divide) (at string, found bool) {
	names := extentsOf(blocks)
	for _, ranks := range []int64{1, 2, 8} {
		for large := range 1 << len(names) {
			env := hostir.Env{string(schedule.D): ranks}
			var text []string
			for i, name := range names { // W is first: heads are as wide
				env[name] = least(schedule.Extent(name), checks, env)
				if large>>i&1 != 0 {
					env[name] *= far
				}
				text = append(text, fmt.Sprintf("%s = %d", name, env[name]))
			}
			if n, err := blocks.Eval(env); err == nil && n < 1 {
				return strings.Join(append(text, fmt.Sprintf("D = %d", ranks)), ", "), true
			}
		}
	}
	return "", false
}

// extentsOf are the extents of an expression, once each, W first; D is none.
func extentsOf(e hostir.Expr) (names []string) {
	e.Vars(func(name string) {
		switch {
		case name == string(schedule.D) || slices.Contains(names, name):
		case name == string(schedule.W):
			names = append([]string{name}, names...)
		default:
			names = append(names, name)
		}
	})
	return names
}

// least is the smallest value of an extent: all that must divide it.
func least(e schedule.Extent, checks []hostir.Divide, env hostir.Env) int64 {
	n := int64(1)
	for _, c := range checks {
		if c.Extent == e && c.With == "" {
			by := c.Divisor(env[string(schedule.D)], env[string(schedule.W)])
			n = n / common(n, by) * by
		}
	}
	return n
}

func common(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// numbers are those of an expression.
var numbers = regexp.MustCompile(`\b[0-9]+\b`)

// stated is a hint: the multiple of an extent with which a launch has a block at each shape, or none that is so simple.
func stated(blocks hostir.Expr, p *hostir.Program) string {
	for _, name := range extentsOf(blocks) {
		e := schedule.Extent(name)
		if _, known := p.Schedule.Multiples[e]; known {
			continue
		}
		for _, times := range append(numbers.FindAllString(blocks.String(), -1), "1") {
			for _, by := range []string{times, times + "*D", "W*D", times + "*W*D"} {
				m, err := schedule.ParseMultiple(by)
				if err != nil || m.W && e == schedule.W {
					continue
				}
				if _, found := unlaunched(blocks, append(slices.Clip(p.Checks), divide(e, m))); !found {
					return fmt.Sprintf("state Multiples, of %s %q, or round up as (M+63)/64 does", e, m)
				}
			}
		}
	}
	return "state Multiples with which it is 1 at least, or round up as (M+63)/64 does"
}
