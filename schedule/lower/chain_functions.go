package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// byKernel says that a kernel of its own makes a function of an operation.
func byKernel(f schedule.Func) bool { return f.Do == "" }

// ofProduct says that the library applies a function to each element of a product.
func ofProduct(f schedule.Func) bool { return f.ByProduct() && f.Elementwise() }

// functions refuses a function that nothing applies at its place, and an operand of another placement.
func (c *chain) functions(d *draft, path string, o schedule.Op, s *stage) error {
	for i, f := range o.Then {
		at := fmt.Sprintf("%s.Then[%d]", path, i)
		if why := c.function(o, f, s.sums == o.Out); why != "" {
			return &schedule.FieldError{Path: at, Msg: why, Hint: d.elsewhere(o, i, c.at[o.Out])}
		}
		for _, operand := range f.Operands() {
			if f.Joins {
				continue // each rank has it
			}
			err := c.beside(d, at, o, operand)
			for _, e := range schedule.FieldErrors(err) {
				if f.Do == "" && e.Path != at {
					e.Msg += ", beside " + schedule.Op{Out: o.Out, In: o.In, Index: o.Index}.String()
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// function says why nothing applies a function of an operation; empty: something does.
func (c *chain) function(o schedule.Op, f schedule.Func, sum bool) string {
	switch {
	case byKernel(f):
		return c.formula(o, f)
	case c.fetches[o.In[0]].From.Columns():
		return fmt.Sprintf("no pass applies %s to the product %s of columns that come", f.Name(), o.Out)
	case sum && f.BySum(), !sum && kind(o.Name()) != gradient && f.ByProduct():
		return ""
	}
	return fmt.Sprintf("no pass applies %s to what leaves the %s %s", f.Name(), o.Name(), o.Out)
}

// heads asks of the shape that heads are whole on each rank.
func (w *writer) heads() {
	for _, o := range w.schedule.Ops {
		for _, f := range o.Then {
			nodes := schedule.Nodes(w.schedule.Tree(f))
			turns := slices.ContainsFunc(nodes, func(n schedule.Node) bool {
				return n.Do == schedule.DoTurn || n.Do == schedule.DoPairs
			})
			for _, width := range schedule.Heads(nodes) {
				check := hostir.Divide{Extent: w.columnsOf(o.Out).Extent, Heads: width}
				if w.chain.at[o.Out].Columns() {
					check.By = schedule.D
				}
				if width == schedule.W && turns {
					w.asks(hostir.Divide{Extent: width, By: "2"})
				}
				w.asks(check)
			}
		}
	}
}

// asks has the program check a shape, once.
func (w *writer) asks(c hostir.Divide) {
	if !slices.Contains(w.program.Checks, c) {
		w.program.Checks = append(w.program.Checks, c)
	}
}

// apply are the formulas of an operation, on a piece of the rows of x.
func (w *writer) apply(on hostir.StreamRef, o schedule.Op, p piece, x hostir.View) []hostir.Node {
	from := slices.IndexFunc(o.Then, func(f schedule.Func) bool { return f.Do == "" })
	if from < 0 {
		return nil
	}
	return []hostir.Node{w.make(on, o, from, p, x)}
}
