package lower

import (
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Buffers and semaphores of a program, and the numbers that must divide its shape for them.

// buffer is a buffer that the program has.
func (d *draft) buffer(name string) *hostir.Buffer {
	for i := range d.program.Buffers {
		if d.program.Buffers[i].Name == name {
			return &d.program.Buffers[i]
		}
	}
	return &hostir.Buffer{}
}

// cut lets a buffer be indexed by parts of the first axis that a rank has more than one index of.
func (d *draft) cut(name string, parts ...schedule.Extent) {
	b := d.buffer(name)
	b.Chunk = part(b.Tensor, parts...)
}

// part counts the elements of one chunk of a rank's shard of a tensor, which the extents cut.
func part(t schedule.Tensor, parts ...schedule.Extent) hostir.Expr {
	axes := append([]schedule.Axis{}, t.Axes...)
	first := 0
	for len(parts) > 0 && oneEach(axes[first]) {
		first++
	}
	axes[first].Outer = append([]schedule.Split{}, axes[first].Outer...)
	for _, n := range parts {
		axes[first].Outer = append(axes[first].Outer, schedule.DIDx(n))
	}
	return hostir.Elements(schedule.Tensor{Axes: axes})
}

// oneEach says that each rank has one index of an axis.
func oneEach(a schedule.Axis) bool {
	return a.Extent == schedule.D && len(a.Outer) == 1 && a.Outer[0].Kind == schedule.DeviceX
}

// cutRows asks of the shape that the ranks can cut the rows, and each rank its own into parts.
func (d *draft) cutRows(rows schedule.Extent, parts int64) {
	if rows == schedule.D {
		return // one a rank
	}
	check := hostir.Divide{Extent: rows, By: schedule.D}
	i := slices.IndexFunc(d.program.Checks, func(c hostir.Divide) bool {
		c.Times = 0
		return c == check
	})
	if i < 0 {
		i, d.program.Checks = len(d.program.Checks), append(d.program.Checks, check)
	}
	if parts > 1 {
		d.program.Checks[i].Times = parts
	}
}

// cutFlat lets a result and other buffers be indexed by a part of their elements a rank, row or no row, and asks of the
// shape that the ranks can cut the elements of the result, or its rows.
func (d *draft) cutFlat(result string, rows bool, names ...string) {
	axes := d.buffer(result).Tensor.Axes
	if rows {
		d.cutRows(axes[0].Extent, 1)
	} else {
		check := hostir.Divide{Extent: axes[0].Extent, With: axes[1].Extent, By: schedule.D}
		if axes[0].Extent.Constant() && !axes[1].Extent.Constant() {
			check.With = "" // a proof for every number of columns has whole rows
		}
		d.program.Ask(check)
	}
	for _, name := range append(names, result) {
		d.buffer(name).Chunk = hostir.Div(d.buffer(result).Elements, hostir.Size)
	}
}

// memory declares a buffer of the plan.
func (d *draft) memory(name string, chunk hostir.Expr, axes ...schedule.Axis) {
	t := schedule.Tensor{Name: name, Axes: axes}
	d.program.Buffers = append(d.program.Buffers, hostir.Buffer{Name: name, Tensor: t, Owner: hostir.Plan,
		Elements: hostir.Elements(t), Chunk: chunk})
}

// semaphores declares semaphores of one member.
func (d *draft) semaphores(names ...string) {
	for _, n := range names {
		d.program.Semaphores = append(d.program.Semaphores, hostir.Semaphore{Name: n})
	}
}

// lent lets peers read memory, which the caller may own.
func (d *draft) lent(name string) string {
	if b := d.buffer(name); b.Owner == hostir.Caller {
		b.Shared = true
	}
	return name
}

// heads asks of the shape that heads are whole on each rank, where a function has some of a result with such columns.
// It refuses an odd number of columns, of which one has no partner.
func (d *draft) heads(path string, f schedule.Func, columns schedule.Extent, spread bool) error {
	nodes := schedule.Nodes(d.original.Tree(f))
	turns := slices.ContainsFunc(nodes, func(n schedule.Node) bool {
		return n.Do == schedule.DoTurn || n.Do == schedule.DoPairs
	})
	widths := schedule.Heads(nodes)
	if n, err := strconv.Atoi(string(columns)); err == nil && n%2 > 0 && turns {
		return refused(path, "leave it out, or let the columns be even", "%s turns pairs of columns, and there are %d",
			f.Name(), n)
	}
	for _, width := range widths {
		check := hostir.Divide{Extent: columns, Heads: width}
		if spread {
			check.By = schedule.D
		}
		if width == schedule.W && turns {
			d.program.Ask(hostir.Divide{Extent: width, By: "2"})
		}
		if width != schedule.W && slices.Contains(widths, schedule.W) { // parts of heads
			d.program.Ask(hostir.Divide{Extent: schedule.W, By: width})
		}
		d.program.Ask(check)
	}
	return nil
}
