package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// The gradient of a weight sums over rows. Ranks that have the same rows of both operands make partial results; of an
// operand whose rows are spread alone each rank gathers the peers', and adds their share of the sum when they are there.

// gradient is a stage of a weight's gradient.
func (c *chain) gradient(d *draft, i int, path string, o schedule.Op) error {
	if len(o.Then) > 0 {
		return d.unapplied(path+".Then[0]", o, 0, gradient)
	}
	done, err := c.edges.Step(i)
	if err != nil {
		return err
	}
	s := stage{input: o.In[0]}
	if at := slices.IndexFunc(done.Edges, func(e edges.Edge) bool { return e.Of != o.Out }); at >= 0 {
		s.input, s.gathers = done.Edges[at].Of, true
	}
	c.stages = append(c.stages, s)
	c.adds(d, path, o, &c.stages[len(c.stages)-1], done)
	return nil
}

// ofSummands says that a stage adds up shares of the rows that it gathers.
func (s *stage) ofSummands() bool {
	return s.gathers && len(s.ops) == 1 && kind(s.ops[0].Name()) == gradient
}

// whole is the operand of such a stage that every rank has.
func (s *stage) whole() string { return s.ops[0].In[1-slices.Index(s.ops[0].In, s.input)] }

// summand adds the share of a rank's rows to the sum; the own rows are the first.
func (w *writer) summand(on hostir.StreamRef, s *stage, p piece, rows hostir.View) hostir.Step {
	views := map[string]hostir.View{s.input: rows, s.whole(): hostir.Chunk(s.whole(), p.rank)}
	o := s.ops[0]
	product := hostir.Multiply(on, hostir.Gradient, hostir.Whole(o.Out), views[o.In[0]], views[o.In[1]])
	if p.rank.Equal(hostir.Rank) {
		return product
	}
	return product.Accumulated()
}

// summandsOfPeers are rows that are pulled and multiplied one rank's after another's: each product adds to the sum of
// those before, so one stream has them all.
func summandsOfPeers(w *writer, s *stage) arrival {
	a := pulling{}.rows(w, s)
	a.turns[0].work, a.turns[0].set, a.oneLoop = mainRef, hostir.StreamSet{}, true
	return a
}
