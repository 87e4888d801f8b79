package lower

import (
	"fmt"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Batches that are an axis of their own lie in memory as rows of all batches do, one batch's after another's: an
// operation on them is lowered as one on all rows, which come in batches.

// joinBatches gives tensors of batches two axes, of the same places in memory.
func joinBatches(d *draft) error {
	was := d.schedule
	d.schedule.Tensors, d.schedule.Ops = slices.Clone(was.Tensors), slices.Clone(was.Ops)
	if nothingTravels(was) {
		return d.flat(was)
	}
	for i, o := range d.schedule.Ops {
		if !o.Batched() {
			continue
		}
		if a, given := d.schedule.Tensor(o.In[0]); given && !spread(a) {
			return d.apartFrom(i, "product")
		}
		d.schedule.Ops[i].Index = hostir.Linear
	}
	joined := rowsOfBatches(was)
	for i, t := range d.schedule.Tensors {
		if joined[t.Name] {
			if err := d.joinAxes(i); err != nil {
				return err
			}
		}
	}
	d.declareAxes()
	return nil
}

// rowsOfBatches are the tensors with rows of batches: those of products of batches, and of functions before and behind
// them.
func rowsOfBatches(s schedule.Schedule) map[string]bool {
	found := map[string]bool{}
	for again := true; again; {
		again = false
		for _, o := range s.Ops {
			if functions := kind(o.Name()) == copied && (found[o.In[0]] || found[o.Out]); !functions && !o.Batched() {
				continue
			}
			names := []string{o.In[0], o.Out}
			for _, f := range o.Then {
				for _, x := range f.Operands() {
					if x.Lies == schedule.InPlace || x.Lies == schedule.ByRow {
						names = append(names, x.Tensor)
					}
				}
			}
			for _, name := range names {
				again = again || !found[name]
				found[name] = true
			}
		}
	}
	return found
}

// joinAxes makes one axis of the batches and the rows of a tensor.
func (d *draft) joinAxes(i int) error {
	t := &d.schedule.Tensors[i]
	batches, rows := t.Axes[0], t.Axes[1]
	path := fmt.Sprintf("Tensors[%d].Axes[0]", i)
	if _, err := strconv.Atoi(string(batches.Extent)); err != nil {
		return refused(path+".Extent", "use a constant",
			"no pass lowers %s batches, a number that New would know first", batches.Extent)
	}
	if len(batches.Outer) > 0 {
		return refused(path+".Outer", "spread the rows by schedule.DIDx(schedule.D)",
			"no pass spreads batches, of which each rank has some rows")
	}
	var outer []schedule.Split
	if len(rows.Outer) > 0 {
		outer = append([]schedule.Split{{Kind: schedule.Plain, Count: batches.Extent}}, rows.Outer...)
	}
	t.Axes = append([]schedule.Axis{schedule.Dim(batches.Extent.Joined(rows.Extent), outer...)}, t.Axes[2:]...)
	return nil
}

// eachTravels refuses batches that do not travel one by one.
func (d *draft) eachTravels() error {
	i := slices.IndexFunc(d.original.Ops, schedule.Op.Batched)
	if i < 0 || d.chunks > 0 || len(d.legs) == 0 {
		return nil
	}
	return d.apartFrom(i, d.legs[0].String())
}

// apartFrom refuses batches of operation i.
func (d *draft) apartFrom(i int, what string) error {
	return refused(fmt.Sprintf("Ops[%d]", i), "use schedule.Linear of the rows of all batches",
		"no pass does the %s of batches that are an axis", what)
}

// declaredAxes gives the buffers of tensors of batches the axes that they are declared with.
func declaredAxes(d *draft) {
	for i, b := range d.program.Buffers {
		t, declared := d.original.Tensor(b.Name)
		if declared && b.Owner == hostir.Caller && len(b.Tensor.Axes) < len(t.Axes) {
			d.program.Buffers[i].Tensor.Axes = t.Axes
		}
	}
}
