package lower

import (
	"fmt"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// batchOrder says how rounds take the batches of rows. A round brings a piece of the rows of each rank.
type batchOrder int

// Orders of batches.
const (
	batchByBatch   batchOrder = iota // each batch has all rounds, one after the other
	batchesInRound                   // a round takes its pieces of all batches
	batchInRound                     // each round takes the rows of one batch, those of all ranks
)

// inBatches is the batches that the rows of all ranks come in.
type inBatches struct {
	parts
	takes batchOrder
}

func (d *draft) inBatches() inBatches {
	return inBatches{parts{int64(max(d.chunks, 1)), "s"}, d.chain.order}
}

// within takes nodes of a round for each batch, if it takes all.
func (m inBatches) within(nodes ...hostir.Node) []hostir.Node {
	if m.takes == batchesInRound && len(nodes) > 0 {
		return m.inTurn(nodes...)
	}
	return nodes
}

// chunk is the index of a rank's rows in a buffer of all ranks' rows of each batch, batch by batch.
func (m inBatches) chunk(rank hostir.Expr) hostir.Expr {
	if m.n == 1 {
		return rank
	}
	return hostir.Add(hostir.Mul(m.part(), hostir.Size), rank)
}

// batchesOfProducts counts the batches of rows of an operand that is gathered, if there are products of it alone.
func (d *draft) batchesOfProducts() int {
	t := d.tensor(d.schedule.Ops[0].In[0])
	if t.Name == "" || !d.productsOf(t.Name) {
		return 0
	}
	return inBatchesOf(t)
}

// roundSplits are the steps that a result of products is made in: rounds of a rank's rows of all batches, or of one.
func (d *draft) roundSplits(t schedule.Tensor, n int) ([]schedule.Split, error) {
	outer, batches := t.Axes[0].Outer, schedule.Number(n)
	if len(outer) > 0 && outer[0].Count.Constant() && outer[0].Count != batches {
		return nil, refused(d.pathOf(d.schedule.Ops[0].In[0])+".Axes[0].Outer[0].Count", "write the same in both",
			"%d parts where the stream axis of %s has %s steps", n, t.Name, outer[0].Count)
	}
	if len(outer) == 0 || outer[0].Kind != schedule.StreamAxis {
		return []schedule.Split{{Kind: schedule.Plain, Count: batches}, schedule.Stream(schedule.D)}, nil
	}
	return []schedule.Split{schedule.Stream(batches), {Kind: schedule.Plain, Count: schedule.D}}, nil
}

// inBatchesOf counts the batches of a tensor's rows, each spread over the ranks; none is 0.
func inBatchesOf(t schedule.Tensor) int {
	outer := t.Axes[0].Outer
	if len(outer) != 2 || outer[1] != schedule.DIDx(schedule.D) {
		return 0
	}
	n, err := strconv.Atoi(string(outer[0].Count))
	if err != nil || outer[0].Kind != schedule.Plain && outer[0].Kind != schedule.StreamAxis {
		return 0
	}
	return n
}

// findBatches finds in how many batches the rows come: one gather and one sum can take them in turn.
func (c *chain) findBatches(d *draft) error {
	first := c.stages[0]
	if first.outward() && first.left.Batches != "" && c.endsIn() {
		d.chunks, _ = strconv.Atoi(string(first.left.Batches))
		c.order = batchesInRound
		return nil
	}
	a := d.tensor(first.input)
	d.chunks = inBatchesOf(a)
	for i, t := range d.schedule.Tensors {
		n := inBatchesOf(t)
		at, rows := c.at[t.Name]
		alike := n == d.chunks
		if alike && n > 0 {
			steps := t.Axes[0].Outer[0].Kind == schedule.StreamAxis
			made := slices.ContainsFunc(c.stages, func(s *stage) bool {
				return s.sums == t.Name || s.own && !s.first && s.makes(t.Name)
			})
			alike = made || d.schedule.Made(t.Name) == steps
		}
		if !rows || !at.Rows() || alike {
			continue
		}
		return refused(fmt.Sprintf("Tensors[%d].Axes[0].Outer", i),
			"cut the rows of both alike, those of the result by schedule.Stream", "%s is in %d batches, and %s in %d",
			t.Name, max(n, 1), a.Name, max(d.chunks, 1))
	}
	if d.batchesOfProducts() > 0 && first.gathers && first.sums == "" && !d.any((*stage).gathersColumns) {
		return c.alikeBatches(d)
	}
	if d.chunks > 0 && (!c.endsIn() || !first.gathers || first.sums == "" || first.toAll) {
		return d.batchesElsewhere(a.Name)
	}
	return nil
}

// batchesElsewhere refuses a tensor with batches of rows.
func (d *draft) batchesElsewhere(name string) error {
	return d.misplaced(name, "leave the batches out", "no pass takes batches through other chains than a gather, "+
		"products and a sum, and what goes on with each rank's own rows")
}

// endsIn says that all stages behind the first work on each rank's own rows.
func (c *chain) endsIn() bool {
	return !slices.ContainsFunc(c.stages[1:], func(s *stage) bool { return !s.own || s.calls || s.sums != "" })
}

// alikeBatches finds whether rounds take a batch of all ranks' rows, or a rank's rows of all batches, as each result of
// the products is made.
func (c *chain) alikeBatches(d *draft) error {
	for i, o := range c.stages[0].ops {
		t, declared := d.schedule.Tensor(o.Out)
		rounds := declared && t.Axes[0].Outer[0].Kind == schedule.StreamAxis
		if i > 0 && rounds != (c.order == batchInRound) {
			first := c.stages[0].ops[0].Out
			return d.misplaced(o.Out, "place it as "+first, "%s is made in another order than %s", o.Out, first)
		}
		if c.order = batchesInRound; rounds {
			c.order = batchInRound
		}
	}
	return nil
}
