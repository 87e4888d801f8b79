package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// The gradient of a weight sums over rows. Ranks that have the same rows of both operands make partial results; of an
// operand whose rows are spread alone each rank gathers the peers', and adds their share of the sum as they come.

// gradient is a stage of a weight's gradient.
func (c *chain) gradient(d *draft, i int, path string, o schedule.Op) error {
	done, err := c.edges.Step(i)
	if j := d.schedule.MadeFrom(o); j < len(o.Then) && !done.Made.Partial {
		return refused(fmt.Sprintf("%s.Then[%d]", path, j), d.endBefore(o, j),
			"no pass applies %s to the gradient %s, whose products add to a tensor, and do no more", o.Then[j].Name(),
			o.Out)
	}
	if added := d.schedule.With(o).Added(); d.schedule.Made(added) && !done.Made.Partial {
		j := slices.IndexFunc(o.Then, func(f schedule.Func) bool { return f.Adds() == added })
		return refused(o.Then[j].PathOf(fmt.Sprintf("%s.Then[%d]", path, j), added), "name a tensor of the caller's",
			"no products of the gradient %s add to %s, which an operation makes", o.Out, added)
	}
	if err = cmp.Or(err, d.plain(o.In[0]), d.plain(o.In[1]), d.everywhere(o.In...)); err != nil {
		return err
	}
	input, gathers := o.In[0], false
	for _, name := range o.In {
		x, _ := c.edges.At(name)
		switch {
		case x.Cut != (edges.Cut{}):
			return d.misplacedIn(name, edges.Along(0),
				"no pass makes a gradient of rows of %s in other than equal parts: %s", name, o)
		case x.Columns() && slices.ContainsFunc(done.Edges, func(e edges.Edge) bool { return e.Of == name }):
			return d.misplacedIn(name, edges.State{},
				"no pass gathers columns of %s for a gradient: %s", name, o)
		case x.Rows() && !done.Made.Partial:
			input, gathers = name, true
		}
	}
	c.addOp(d, path, o, c.begin(input, gathers, false), done)
	return nil
}

// addsShares says that a stage adds up shares of rows of all ranks.
func (s *stage) addsShares() bool {
	return s.ofAll() && len(s.ops) == 1 && kind(s.ops[0].Name()) == gradient
}

// whole is the operand of such a stage that every rank has.
func (s *stage) whole() string { return s.ops[0].In[1-slices.Index(s.ops[0].In, s.input)] }

// shareOf adds the share of a rank's rows to the sum, the own rows first, or makes the sum of all rows.
func (w *writer) shareOf(on hostir.StreamRef, s *stage, p piece, rows hostir.View) []hostir.Node {
	o, beside := s.ops[0], hostir.Whole(s.whole())
	if !p.rank.IsZero() {
		beside = hostir.Chunk(s.whole(), p.rank)
	}
	views := map[string]hostir.View{s.input: rows, s.whole(): beside}
	product := hostir.Multiply(on, hostir.Gradient, hostir.Whole(o.Out), views[o.In[0]], views[o.In[1]])
	if p.rank.IsZero() || p.rank.Equal(hostir.Rank) {
		return w.onto(o, product.Applying(w.functionsOf(o, false)))
	}
	return []hostir.Node{product.Accumulated()}
}

// onto is the first product of a gradient. Where the operation adds a tensor, it adds to that.
func (w *writer) onto(o schedule.Op, product hostir.Step) []hostir.Node {
	added := w.schedule.With(o).Added()
	if added == "" {
		return []hostir.Node{product}
	}
	before := hostir.Set(product.Stream, product.Result(), w.at(added, piece{}))
	return []hostir.Node{before, product.Accumulated()}
}

// onMain are rounds whose products are on the caller's stream.
func (t turns) onMain() turns {
	t.work, t.set = mainRef, hostir.StreamSet{}
	return t
}
