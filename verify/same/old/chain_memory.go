package old

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// gatheredSuffix ends the name of the memory in which all ranks' rows of a tensor are gathered.
const gatheredSuffix = "gathered"

// memories declares the memory that the stages need beside the caller's tensors.
func (w *writer) memories() {
	for i := range w.chain.stages {
		s := &w.chain.stages[i]
		if s.gathers {
			if b := w.buffer(s.input); b.Owner == hostir.Caller && s.pulls() {
				b.Shared = true
			}
			w.eachRank(s.input+gatheredSuffix, w.columnsOf(s.input))
		}
		for _, o := range s.ops {
			w.results(s, o)
		}
	}
	for i := range w.chain.stages {
		if s := &w.chain.stages[i]; w.byRanks(s) {
			w.indexed(s)
		}
	}
}

// results declares memory for partial results of an operation, and for a result that the caller does not get.
func (w *writer) results(s *stage, o schedule.Op) {
	columns, made := w.columnsOf(o.Out), w.madeIn(o.Out)
	_, declared := w.schedule.Tensor(o.Out)
	if made != o.Out {
		w.cutColumns(o.Out)
		columns.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	switch {
	case o.Out != s.sums && declared && made == o.Out:
	case o.Out != s.sums && w.byRanks(s):
		w.eachRank(made, columns)
	case o.Out != s.sums:
		w.memory(made, w.rowElements(s.own, columns), w.rowAxis(s.own), columns)
	case s.puts():
		w.eachRank(w.named(partial, s), columns)
		w.eachRank(w.named(slots, s), columns)
		if w.original.OverHosts() {
			w.perHostRows(s, columns)
		}
		if s.toAll {
			w.memory(w.named(reduced, s), w.rowElements(true, columns), w.rowAxis(true), columns)
			sum, _ := w.schedule.Tensor(s.sums)
			w.buffer(w.named(reduced, s)).Tensor.Type = sum.Type
		}
	case w.byRanks(s):
		w.eachRank(w.named(partial, s), columns)
	default:
		var cut []schedule.Extent
		if !s.toAll {
			cut = []schedule.Extent{schedule.D}
		}
		t := schedule.Tensor{Axes: []schedule.Axis{w.rowAxis(false), columns}}
		w.memory(w.named(partial, s), part(t, cut...), t.Axes...)
	}
	if o.Out == s.sums && !declared {
		w.memory(o.Out, w.rowElements(!s.toAll, columns), w.rowAxis(!s.toAll), columns)
	}
}

// rowAxis is the rows of a tensor: each rank's own, or all.
func (w *writer) rowAxis(own bool) schedule.Axis {
	rows := w.rows()
	rows.Outer = nil
	if own {
		rows.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	return rows
}

// rowElements counts the elements that a rank has of a tensor with such rows.
func (w *writer) rowElements(own bool, columns schedule.Axis) hostir.Expr {
	return elements(schedule.Tensor{Axes: []schedule.Axis{w.rowAxis(own), columns}})
}

// rows is the axis of the rows that the chain begins with.
func (w *writer) rows() schedule.Axis {
	return w.buffer(w.chain.stages[0].input).Tensor.Axes[0]
}

// columnsOf is the axis of a tensor's columns: its own, or its weight's.
func (d *draft) columnsOf(name string) schedule.Axis {
	if t, declared := d.schedule.Tensor(name); declared {
		return t.Axes[1]
	}
	o, _ := d.schedule.Maker(name)
	if o.Call != "" {
		return d.columnsOfCall(o)
	}
	if kind(o.Name()) != linear {
		return d.columnsOf(o.In[0])
	}
	weight, _ := d.schedule.Tensor(o.In[1])
	return weight.Axes[0]
}

// eachRank declares memory with all ranks' rows, indexed by ranks, and the given columns.
func (w *writer) eachRank(name string, columns schedule.Axis) {
	rows := w.rows()
	if len(rows.Outer) == 0 {
		rows.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	rows.Outer = slices.Clone(rows.Outer)
	for i, s := range rows.Outer {
		if s.Kind == schedule.DeviceX {
			rows.Outer[i] = schedule.Split{Kind: schedule.Plain, Count: s.Count}
		}
	}
	t := schedule.Tensor{Name: name, Axes: []schedule.Axis{rows, columns}}
	w.memory(name, chunk(t), t.Axes...)
}

// indexed lets the caller's tensors of a stage be indexed by the rows of a rank.
func (w *writer) indexed(s *stage) {
	w.cutRows(w.rows().Extent, 1)
	whole := func(name string) {
		if b := w.buffer(name); b.Name != "" && len(b.Tensor.Axes[0].Outer) == 0 {
			w.cut(name, schedule.D)
		}
	}
	if !s.gathers {
		whole(s.input)
	}
	for _, o := range s.ops {
		if (o.Out != s.sums || s.toAll) && o.Out != s.widened {
			whole(o.Out)
			whole(o.Added())
		}
		if o.Out == s.sums && s.toAll {
			whole(w.named(reduced, s))
		}
		for _, f := range o.Then {
			if do(f) == applyRotary {
				whole(f.Reads()[0])
			}
		}
	}
}
