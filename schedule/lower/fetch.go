package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// A product may need all of an operand that is spread over the ranks otherwise than by the rows of its result: a
// weight, or an operand that is spread along what is summed over. No part of the result needs a part of that alone, so
// it comes whole before the product. Weights have stages of their own: the copy engine brings those of later products
// while earlier ones are made.

// fetches are the edges of operands that come whole before products, by the operand.
func fetches(s schedule.Schedule) map[string]edges.Edge {
	list, err := edges.All(s)
	if err != nil {
		return nil
	}
	found := map[string]edges.Edge{}
	for _, e := range list {
		if e.User < 0 || e.Kind != edges.AllGather || e.From.Cut != (edges.Cut{}) {
			continue
		}
		o := s.Ops[e.User]
		if e.From.Columns() && s.Made(o.In[0]) {
			continue // the proof does not cut the columns that an operation makes
		}
		if multiplies(o) && kind(o.Name()) != gradient && (e.Of != o.In[0] || e.From.Columns()) && !s.Made(e.Of) {
			found[e.Of] = e
		}
	}
	return found
}

// fetched says that an operand of a product comes whole.
func (c *chain) fetched(name string) bool {
	_, comes := c.fetches[name]
	return comes
}

// fetch adds the stages of the weights that come whole before operation i, and says whether its first operand does.
func (c *chain) fetch(d *draft, i int, o schedule.Op, done edges.Step) (first bool, err error) {
	for _, name := range o.In[1:] {
		e, comes := c.fetches[name]
		if !comes || e.User != i {
			continue
		}
		c.add(&stage{input: name, gathers: true, moved: e})
		if kind(o.Name()) == matmul && e.From.Axis != columnsAt(o)+1 {
			err = d.misplaced(name, "spread its columns by schedule.DIDx(schedule.D), or nothing",
				"no proof cuts a matmul by rows of %s that come: %s", name, o)
		}
		err = cmp.Or(err, d.plain(name))
	}
	e, first := c.fetches[o.In[0]]
	switch {
	case !first || !multiplies(o):
		return false, err
	case done.Made.Partial:
		err = refused(fmt.Sprintf("Ops[%d].In[0]", i), inTwo(d.schedule, i),
			"%s sums over %s where its parts are, and another operation gathers it", o.Out, o.In[0])
	case e.From.Columns() && kind(o.Name()) != linear:
		err = d.misplaced(o.In[0], "spread its rows by schedule.DIDx(schedule.D), or nothing",
			"no proof cuts a %s by columns of %s that come: %s", o.Name(), o.In[0], o)
	}
	return true, cmp.Or(err, d.plain(o.In[0]), d.plain(o.In[1]), d.everywhere(o.In[1]))
}

// weight is all that a rank has of the weight of a product: its own, or all that it has fetched.
func (w *writer) weight(o schedule.Op) hostir.View {
	if w.chain.fetched(o.In[1]) {
		return hostir.Whole(o.In[1] + hostir.GatheredSuffix)
	}
	return hostir.Whole(o.In[1])
}

// early says that what comes to a stage may come from the beginning: the caller has given it, and nothing is between.
func (w *writer) early(s *stage) bool {
	_, declared := w.schedule.Tensor(s.input)
	return s.gathers && declared && !w.schedule.Made(s.input)
}

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
	for k, name := range o.In {
		x, _ := c.edges.At(name)
		switch _, declared := d.schedule.Tensor(name); {
		case !declared && !x.Rows() && !done.Made.Partial && d.schedule.Partial(o): // as what is declared says
			whole := schedule.Tensor{Axes: []schedule.Axis{schedule.Dim(d.rowExtent(name)), d.columnsOf(name)}}
			return refused(fmt.Sprintf("%s.In[%d]", path, k), fmt.Sprintf("declare %s %s", name, cutAs(whole, x)),
				"%s is not declared, and nothing says whether ranks add up products of their rows of %s or gather "+
					"these: each rank has all rows of %s", name, o.In[1-k], name)
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

// otherOperand is the operand of such a stage that every rank has.
func (s *stage) otherOperand() string { return s.ops[0].In[1-slices.Index(s.ops[0].In, s.input)] }

// shareOf adds the share of a rank's rows to the sum, the own rows first, or makes the sum of all rows.
func (w *writer) shareOf(on hostir.StreamRef, s *stage, p piece, rows hostir.View) []hostir.Node {
	o, beside := s.ops[0], hostir.Whole(s.otherOperand())
	if !p.rank.IsZero() {
		beside = w.at(s.otherOperand(), p)
	}
	views := map[string]hostir.View{s.input: rows, s.otherOperand(): beside}
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
