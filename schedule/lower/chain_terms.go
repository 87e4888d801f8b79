package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Partial results of several products meet in one sum: each rank makes the first of them, and the others add to it.

// addsTerm says that a function adds partial results, which a product does.
func (d *draft) addsTerm(f schedule.Func) bool {
	return d.schedule.IsTerm(f.Adds())
}

// term finds where such an operation leaves its result. The stage of the other one makes it.
func (c *chain) term(d *draft, i int, path string, o schedule.Op) error {
	if c.widened(o.In[0]) {
		return d.behindColumns(path+".In[0]", o.In[0], o.Out)
	}
	done, err := c.edges.Step(i)
	c.at[o.Out] = done.Made
	return err
}

// products are the product of an operation, behind those that make its terms where it adds to them.
func (w *writer) products(on hostir.StreamRef, s *stage, o schedule.Op, p piece, x hostir.View) (nodes []hostir.Node) {
	product := w.product(on, s, o, p, x)
	if o.Out != s.sums && kind(o.Name()) == gradient {
		return w.onto(o, product)
	}
	if o.Out != s.sums {
		return []hostir.Node{product}
	}
	for _, t := range s.terms {
		term := w.partialOf(on, s, t, p, w.at(t.In[0], p))
		if len(nodes) > 0 {
			term = term.Accumulated()
		}
		nodes = append(nodes, term)
	}
	if len(nodes) > 0 {
		product = product.Accumulated().Described("to what is there").Applying(w.termsOf(o))
	}
	return append(nodes, product)
}

// termsOf are the functions that add partial results to those of an operation.
func (w *writer) termsOf(o schedule.Op) (list []hostir.Function) {
	for _, t := range append(slices.Clone(w.schedule.Terms(o)), o) {
		for i, declared := range w.original.Ops {
			for j, f := range declared.Then {
				if w.addsTerm(f) && (declared.Out == t.Out || w.sumsOnly[declared.Out].sum == t.Out) {
					list = append(list, hostir.Function{Op: i, Then: j})
				}
			}
		}
	}
	return list
}

// into are products with another result.
func into(to hostir.View, products []hostir.Node) (nodes []hostir.Node) {
	for _, n := range products {
		nodes = append(nodes, n.(hostir.Step).Into(to))
	}
	return nodes
}
