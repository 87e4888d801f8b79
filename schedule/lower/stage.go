package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// asStage is the row of a single product's communication by a way that the writer of chains does: the product is a
// chain of one stage.
func asStage(m moves, way schedule.Way) lowering {
	return lowering{moves: m, way: way, stage: func(schedule.Way) bool { return true }}
}

// ownStage is a row whose own lowering the writer of chains does.
func ownStage(l lowering) lowering {
	l.stage = func(schedule.Way) bool { return true }
	return l
}

// where is a row of which the writer of chains does the ways that a function says.
func where[W schedule.Way](l lowering, stage func(W) bool) lowering {
	l.stage = func(way schedule.Way) bool { return stage(way.(W)) }
	return l
}

// oneStage makes a chain of a single operation, and takes the way for its communication there, if it has one.
func oneStage(d *draft, own *lowering, way schedule.Way) error {
	d.form, d.schedule, d.comm = d.form.unnamed(), d.named(), communication{}
	if err := chained(d); err != nil {
		return err
	}
	link := d.legs()[0]
	d.edge.Steps = link.move
	if i := slices.IndexFunc(lowerings, func(x lowering) bool {
		return x.moves == link.moves && x.takes(way)
	}); i >= 0 {
		own = &lowerings[i]
	}
	return own.write(d, way)
}

// named is the schedule with the tensors' own names, and one axis of batches and their rows.
func (d *draft) named() schedule.Schedule {
	s := d.original
	s.Tensors, s.Ops = slices.Clone(s.Tensors), slices.Clone(s.Ops)
	for i, t := range d.schedule.Tensors {
		if len(t.Axes) < len(s.Tensors[i].Axes) {
			s.Tensors[i].Axes = t.Axes
		}
	}
	for i, o := range s.Ops {
		if o.Batched() {
			s.Ops[i].Index = hostir.Linear
		}
	}
	return s
}

// unnamed is a chain, whose tensors have their own names for roles.
func (f form) unnamed() form {
	own := form{kind: chains, roles: map[string]string{}}
	for name := range f.roles {
		own.roles[name] = name
	}
	return own
}

// productOf is the index of a product with a weight, and the weight's axis of the result's columns.
func productOf(o schedule.Op) (index string, columns int, is bool) {
	switch kind(o.Name()) {
	case linear:
		return hostir.Linear, 0, true
	case matmul:
		return hostir.Matmul, 1, true
	case gradient:
		return hostir.Gradient, 1, true
	}
	return "", 0, false
}

// moved is a stage without operations: it gathers rows for the caller.
func (c *chain) moved(d *draft, i int, o schedule.Op) error {
	done, err := c.edges.Step(i)
	if err == nil {
		err = c.unmoved(d, i, o, done)
	}
	if t, declared := d.schedule.Tensor(o.Out); !declared || len(t.Axes) == 2 {
		c.at[o.Out] = done.Left
	}
	if err != nil || len(done.Edges) == 0 {
		return err
	}
	s, e := c.stage(o.In[0], true, false), done.Edges[0]
	if e.Kind != edges.AllGather || e.From.Columns() { // else products of the same rows may follow
		s.moved = e
	}
	return nil
}

// unmoved refuses a copy that no pass does beside the other operations.
func (c *chain) unmoved(d *draft, i int, o schedule.Op, done edges.Step) error {
	x, _ := c.edges.At(o.In[0])
	columns := slices.ContainsFunc(done.Edges, func(e edges.Edge) bool { return e.From.Columns() || e.To.Columns() })
	switch {
	case len(done.Edges) == 0 && done.Left == x:
		return ofItsOwn(d.schedule, i, fmt.Sprintf("%s is %s as it is: nothing travels", o.Out, o.In[0]))
	case columns && (byProduct(d.schedule, o.In[0]) || ofProducts(d.schedule, o.Out)):
		return ofItsOwn(d.schedule, i, fmt.Sprintf("%s travels in parts of its columns, which no product here makes or "+
			"reads", o.In[0]))
	}
	return nil
}

// byProduct says that an operation other than a call makes a tensor.
func byProduct(s schedule.Schedule, name string) bool {
	o, made := s.Maker(name)
	return made && o.Call == ""
}

// ofProducts says that an operation other than a call reads a tensor.
func ofProducts(s schedule.Schedule, name string) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		return o.Call == "" && slices.Contains(slices.Concat(o.In, functionOperands(o)), name)
	})
}

// sum is a stage without operations: it adds up what the caller gives.
func (c *chain) sum(d *draft, i int, path string, o schedule.Op) error {
	done, err := c.edges.Step(i)
	if err != nil {
		return err
	}
	c.stages = append(c.stages, stage{input: o.In[0], given: o.In[0]})
	c.adds(d, path, o, &c.stages[len(c.stages)-1], done)
	return nil
}

// summands is the memory in which each rank has its summands of a stage's sums.
func (w *writer) summands(s *stage) string {
	if s.given != "" {
		return s.given
	}
	return w.named(partial, s.sums)
}

// lent lets peers read memory, which the caller may own.
func (w *writer) lent(name string) string {
	if b := w.buffer(name); b.Owner == hostir.Caller {
		b.Shared = true
	}
	return name
}

// intoCallersOwn gathers rows into the caller's memory, where a copy of them is declared.
func (c *chain) intoCallersOwn(d *draft) {
	for _, o := range d.schedule.Ops {
		for i := range c.stages {
			if s := &c.stages[i]; copies(o) && s.ofAll() && s.input == o.In[0] {
				s.into = o.Out
			}
		}
	}
}
