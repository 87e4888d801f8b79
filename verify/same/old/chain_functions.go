package old

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// byKernel says that a kernel of its own applies a function of an operation: behind a product, only where the
// library of products does not.
func byKernel(o schedule.Op, f schedule.Func) bool {
	return applies[do(f)].kernel && (kind(o.Name()) == copied || !applies[do(f)].product)
}

// ofProduct says that the library applies a function to each element of a product.
func ofProduct(f schedule.Func) bool { return applies[do(f)].product && elementwise(f) }

// functions refuses a function that nothing applies at its place, and an operand of another placement.
func (c *chain) functions(d *draft, path string, o schedule.Op, s *stage) error {
	for i, f := range o.Then {
		at := fmt.Sprintf("%s.Then[%d]", path, i)
		if why := c.function(o, i, s.sums == o.Out); why != "" {
			return &schedule.FieldError{Path: at, Msg: why, Hint: d.elsewhere(o, i, c.at[o.Out], s.sums == o.Out)}
		}
		for k := range f.Reads() {
			if err := c.beside(d, at, o, f, k, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// function says why nothing applies function i of an operation; empty: something does.
func (c *chain) function(o schedule.Op, i int, sum bool) string {
	f := o.Then[i]
	before := func(is func(schedule.Func) bool) bool { return slices.ContainsFunc(o.Then[:i], is) }
	byProduct := applies[do(f)].product && kind(o.Name()) == linear
	switch {
	case before(func(x schedule.Func) bool { return do(x) == do(f) }):
		return fmt.Sprintf("%s of %s is there already", do(f), o.Out)
	case sum && !applies[do(f)].sum:
		return fmt.Sprintf("no pass applies %s to the sum %s of partial results", do(f), o.Out)
	case sum:
	case before(func(x schedule.Func) bool { return applies[do(x)].norm }):
		return fmt.Sprintf("no pass applies %s to %s behind a norm", do(f), o.Out)
	case applies[do(f)].norm && c.at[o.Out].columns:
		return fmt.Sprintf("each rank has a part of each row of %s, and %s takes whole rows", o.Out, do(f))
	case applies[do(f)].norm && (kind(o.Name()) != copied || i > 0):
		return fmt.Sprintf("rows of %s are normed alone, in a schedule.Copy", o.Out)
	case do(f) == applyRotary && (i != len(o.Then)-1 || i > 1 || i == 1 && o.Bias() == ""):
		return fmt.Sprintf("heads of %s are turned last, behind a product or its bias", o.Out)
	case byKernel(o, f):
	case byProduct && (elementwise(f) || i == 0) && !before(ofProduct) &&
		!before(func(x schedule.Func) bool { return byKernel(o, x) }):
	case byProduct:
		return fmt.Sprintf("the product %s adds a bias, and then applies one function of each element", o.Out)
	default:
		return fmt.Sprintf("no pass applies %s to what leaves the %s %s in a chain", do(f), o.Name(), o.Out)
	}
	return ""
}

// beside checks that operand i of a function is placed like the result.
func (c *chain) beside(d *draft, path string, o schedule.Op, f schedule.Func, i int, s *stage) error {
	name := f.Reads()[i]
	out, x := c.at[o.Out], c.at[name]
	switch {
	case do(f) == applyRotary:
		return c.turned(d, path, o, name)
	case row(f, i):
		return c.placed(d, name, out, false)
	case applies[do(f)].kernel && !s.makes(name):
		return &schedule.FieldError{Path: path, Hint: "make it before " + o.Out + ", of the same operand",
			Msg: fmt.Sprintf("%s is not made beside %s", name, o.Out)}
	case d.schedule.Made(name) && x != out:
		return &schedule.FieldError{Path: path, Hint: "declare both with the same placement",
			Msg: fmt.Sprintf("%s and %s have their rows on different ranks", name, o.Out)}
	}
	return c.placed(d, name, out, s.gathers && applies[do(f)].kernel)
}

// heads asks of the shape that heads are whole on each rank.
func (w *writer) heads() {
	for _, o := range w.schedule.Ops {
		for _, f := range o.Then {
			if do(f) != applyRotary {
				continue
			}
			width, _ := headWidth(w.schedule, f.Reads()[0]) // turned has read it
			check := hostir.Divide{Extent: w.columnsOf(o.Out).Extent, Heads: width}
			if w.chain.at[o.Out].columns {
				check.By = schedule.D
			}
			checks := []hostir.Divide{check}
			if width == schedule.W {
				checks = []hostir.Divide{{Extent: width, By: "2"}, check}
			}
			for _, c := range checks {
				if !slices.Contains(w.program.Checks, c) {
					w.program.Checks = append(w.program.Checks, c)
				}
			}
		}
	}
}

// turned checks the table of a rotary embedding, which has the rows of the result.
func (c *chain) turned(d *draft, path string, o schedule.Op, table string) error {
	_, err := headWidth(d.schedule, table)
	wrong := func(format string, args ...any) error {
		return &schedule.FieldError{Path: path + ".In[0]", Msg: fmt.Sprintf(format, args...),
			Hint: "declare " + table + " with a row for each row, and W or a constant such as 128 as a head's width"}
	}
	switch {
	case d.schedule.Made(table):
		return wrong("no pass turns heads by %s, which an operation makes", table)
	case err != nil:
		return wrong("%v", err)
	}
	return c.placed(d, table, flow{own: c.at[o.Out].own}, false)
}

// apply are the functions of an operation that have a kernel of their own, on the rows of one rank, or
// on all where rank is absent.
func (w *writer) apply(on hostir.StreamRef, o schedule.Op, rank hostir.Expr, x hostir.View) []hostir.Node {
	from := slices.IndexFunc(o.Then, func(f schedule.Func) bool { return byKernel(o, f) })
	if from < 0 {
		return nil
	}
	return []hostir.Node{w.make(on, o, o.Then[from:], rank, x)}
}
