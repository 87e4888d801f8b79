package lower

import (
	"cmp"
	"fmt"

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
