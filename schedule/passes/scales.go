package passes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Tensors of codes are lowered as others are. Then a pass gives each product the scales of its operands. Where
// each row has one, it lies as the row does: memory that rows are copied to has scales beside it, and each copy of rows
// has a copy of their scales ahead of it, between the same waits and posts.

// scaling is a program whose tensors of eight bits get their scales.
type scaling struct {
	*hostir.Program
	scaleOf map[string]string         // the memory of scales, by that of elements
	ofRows  map[string]bool           // memory of scales of rows
	asked   map[schedule.Extent]int64 // by the extent of an axis: a number that divides a rank's part of it
	wrong   error
}

// scales gives products of eight bits their scales, and lets scales of rows travel with them.
func scales(p *hostir.Program) error {
	x := &scaling{Program: p, scaleOf: map[string]string{}, ofRows: map[string]bool{},
		asked: map[schedule.Extent]int64{}}
	for _, t := range p.Schedule.Tensors {
		if t.Scale == "" {
			continue
		}
		scale, _ := p.Schedule.Tensor(t.Scale)
		x.scaleOf[t.Name], x.ofRows[t.Scale] = t.Scale, scale.OfRows() && !scale.OfSquares()
		if x.ofRows[t.Scale] {
			x.beside(t.Name, t.Scale)
		}
		if of := x.At(t.Name); scale.ByBlock() && !of.Chunk.Equal(of.Elements) {
			x.wrong = cmp.Or(x.wrong, x.apart(t.Name))
		}
	}
	if len(x.scaleOf) == 0 {
		return nil
	}
	for known := 0; known < len(x.scaleOf) && x.wrong == nil; {
		known = len(x.scaleOf)
		hostir.Steps(p.Body, x.fills)
	}
	if x.wrong != nil {
		return x.wrong
	}
	p.Body = hostir.MapSteps(p.Body, x.step)
	return x.wrong
}

// beside lets memory of scales be indexed as that of their rows is.
func (x *scaling) beside(rows, scales string) {
	of, b := x.At(rows), x.At(scales)
	last := len(of.Tensor.Axes) - 1
	columns := hostir.Elements(schedule.Tensor{Axes: of.Tensor.Axes[last:]})
	chunk, whole := of.Chunk.Without(columns)
	all, known := of.Elements.Without(columns)
	room, counted := of.Room.Without(columns)
	if !whole || !known || !counted && !of.Room.IsZero() {
		x.wrong = cmp.Or(x.wrong, schedule.Refused("Tensors", "let 16 bits travel, and quantise behind them",
			"no pass cuts the scales of %s as its rows are cut", rows))
		return
	}
	if a, ok := blockAxis(b.Tensor); ok { // a row has one for each block
		blocks := hostir.Elements(schedule.Tensor{Axes: []schedule.Axis{a}})
		chunk, all = hostir.Mul(chunk, blocks), hostir.Mul(all, blocks)
		if counted {
			room = hostir.Mul(room, blocks)
		}
		of, columns, _ := a.Extent.Blocks()
		x.Ask(hostir.Divide{Extent: of, By: schedule.Number(columns)})
	}
	b.Chunk, b.Elements, b.Shared = chunk, all, of.Shared
	b.Counts, b.Room = of.Counts, room
}

// blockAxis is the axis of scales that has an index for each block, if there is one.
func blockAxis(scales schedule.Tensor) (a schedule.Axis, ok bool) {
	i := slices.IndexFunc(scales.Axes, schedule.Axis.InBlocks)
	if i < 0 {
		return a, false
	}
	return scales.Axes[i], true
}

// apart refuses scales that lie block by block of rows of which something takes a part: theirs lie apart.
func (x *scaling) apart(rows string) error {
	return schedule.Refused("Tensors",
		"give each row a scale, or let one copy and one product take all rows that a rank has, in equal parts",
		"the scales of %s lie block by block, and those of a part of its rows do not lie together",
		strings.TrimSuffix(rows, hostir.GatheredSuffix))
}

// carries returns the source and the destination of a step that moves elements unchanged; ok is false for other steps.
func carries(s hostir.Step) (from, to hostir.View, ok bool) {
	switch x := s.Do.(type) {
	case hostir.Copy:
		return x.From, x.To, true
	case hostir.Gather:
		return x.Shard(), x.To, true
	case hostir.PacketGather:
		return x.Each, x.To, true
	case hostir.Collective:
		return x.From, x.To, x.Does == hostir.AllGather || x.Does == hostir.Exchange
	}
	return from, to, false
}

// fills notes the memory that a step fills with elements of eight bits, and declares that of its scales.
func (x *scaling) fills(s hostir.Step) {
	from, view, moves := carries(s)
	if !moves || x.wrong != nil {
		return
	}
	to := x.At(view.Buffer)
	scale := x.scaleOf[from.Buffer]
	if scale == "" || x.scaleOf[to.Name] != "" {
		return
	}
	if to.Tensor.Type = x.At(from.Buffer).Tensor.Type; x.ofRows[scale] && !from.Columns && !view.Columns {
		own, axes := x.At(scale).Tensor, to.Tensor.Axes[:len(to.Tensor.Axes)-1:len(to.Tensor.Axes)-1]
		scale += strings.TrimPrefix(to.Name, from.Buffer)
		if block, ok := blockAxis(own); ok { // of a chunk of rows, which may lie block by block
			axes = append(axes, block)
		}
		b := hostir.Buffer{Name: scale, Owner: hostir.Plan, Tensor: schedule.Tensor{Name: scale, Axes: axes,
			Type: own.Type}}
		name := to.Name // appending may move the buffers
		x.Buffers, x.ofRows[scale] = append(x.Buffers, b), true
		x.beside(name, scale)
		x.scaleOf[name] = scale
		return
	}
	if own := x.At(scale).Tensor; own.OfSquares() && (len(own.Axes[0].Outer) > 0 || len(own.Axes[1].Outer) > 0) {
		i := slices.IndexFunc(x.Schedule.Tensors, func(t schedule.Tensor) bool { return t.Scale == scale })
		x.wrong = cmp.Or(x.wrong, schedule.Refused(fmt.Sprintf("Tensors[%d]", i),
			"let every rank have it, or give each row a scale",
			"parts of %s travel, and no pass takes scales of squares along", x.Schedule.Tensors[i].Name))
		return
	}
	x.scaleOf[to.Name] = scale
}

// step is a step on elements of eight bits, and what it does to their scales.
func (x *scaling) step(s hostir.Step) []hostir.Node {
	reads, writes := s.Views()
	if !slices.ContainsFunc(append(reads, writes...), func(v hostir.View) bool { return x.scaleOf[v.Buffer] != "" }) {
		return []hostir.Node{s}
	}
	if w, multiplies := s.Do.(hostir.Product); multiplies {
		w.ScaleA, w.ScaleB = x.of(w.A), x.of(w.B)
		w.InBlocks = w.Scaled() && x.At(w.ScaleB.Buffer).Tensor.OfSquares()
		x.fits(w)
		if w.Narrow() {
			x.narrow(&s, w)
		}
		s.Do = w
		return []hostir.Node{s}
	}
	if w, sums := s.Do.(hostir.Sum); sums && !s.ByBlocks {
		s.Do = x.summed(w)
		return []hostir.Node{s}
	}
	if w, makes := s.Do.(hostir.Apply); makes {
		s.Do = x.made(w)
		return []hostir.Node{s}
	}
	if w, calls := s.Do.(hostir.Call); calls {
		w.Scales = x.of(w.To)
		s.Do = w
		return []hostir.Node{s}
	}
	sent, packets := hostir.SentBy(s.Do)
	if from, to, moves := carries(s); moves && (packets || !s.Fused()) && !x.Schedule.InParts(from.Buffer) {
		if _, gathers := s.Do.(hostir.Gather); gathers || packets || s.Remote() && x.EdgeOf(s).Carrier.Copies {
			x.even(from)
		}
		if !x.ofRows[x.scaleOf[from.Buffer]] || from.Columns || to.Columns {
			return []hostir.Node{s}
		}
		beside := hostir.Parts{View: func(_ string, v hostir.View) hostir.View { return x.of(v) }}
		if packets {
			flags := x.lands(sent)
			beside.Word = func(w hostir.Word) hostir.Word { w.Semaphore = flags; return w }
		}
		first := s.With(beside).(hostir.Step)
		first.Remark = ""
		return []hostir.Node{first, s}
	}
	e := x.EdgeOf(s)
	of := cmp.Or(e.Of, s.Result().Buffer)
	if w, ok := s.OwnProduct(); ok && x.scaleOf[of] == "" {
		of = w.Do.(hostir.Product).B.Buffer
	}
	x.wrong = cmp.Or(x.wrong, schedule.Refused(e.Field(),
		"use schedule."+schedule.WayName(e.Default), "no kernel of its way takes the scales of %s along", of))
	return []hostir.Node{s}
}

// lands declares memory in which the packets of scales land beside those of their codes, and names its flags.
func (x *scaling) lands(sent hostir.Sent) (flags string) {
	codes, own := x.At(sent.Landing.Buffer), *x.At(x.scaleOf[sent.Each.Buffer])
	codes.Tensor.Type = x.At(sent.Each.Buffer).Tensor.Type
	b := hostir.Buffer{Name: own.Name + codes.Name, Owner: hostir.Plan, Chunk: own.Elements, Lands: codes.Lands,
		Tensor: schedule.Tensor{Name: own.Name + codes.Name, Type: own.Tensor.Type,
			Axes: append([]schedule.Axis{schedule.Dim(schedule.D)}, own.Tensor.Axes...)}}
	b.Elements, b.Lands.Flags = hostir.Elements(b.Tensor), own.Name+codes.Lands.Flags
	x.scaleOf[codes.Name], x.ofRows[b.Name] = b.Name, true
	x.Buffers = append(x.Buffers, b)
	x.Semaphores = append(x.Semaphores, hostir.Semaphore{Name: b.Lands.Flags})
	return b.Lands.Flags
}

// even asks of the shape that rows of codes and their scales are whole units of two bytes, which kernels copy.
func (x *scaling) even(v hostir.View) {
	const unit = 16 // bits
	codes, scales := x.At(v.Buffer).Tensor, x.At(x.scaleOf[v.Buffer]).Tensor
	last := codes.Axes[len(codes.Axes)-1]
	columns := max(unit/codes.Type.Bits(), 1)
	if _, block, ok := scales.Axes[len(scales.Axes)-1].Extent.Blocks(); ok {
		columns = max(columns, block*unit/min(scales.Type.Bits(), unit))
	}
	x.multiple(last, columns)
}

// made adds scales to a step of formulas: the result's, which it writes, and its operands', which it reads.
func (x *scaling) made(w hostir.Apply) hostir.Apply {
	if x.scaleOf[w.To.Buffer] != "" {
		w.Scales = x.of(w.To)
	}
	w.Operands = slices.Clone(w.Operands)
	for i, v := range w.Operands {
		if _, scales := x.Schedule.ScaledBy(v.Buffer); scales {
			w.Operands[i] = x.of(w.X)
		}
	}
	return w
}

// summed is a sum that reads the scales of its terms, of which a kernel takes 16 columns at once.
func (x *scaling) summed(w hostir.Sum) hostir.Sum {
	const unit = 16
	for _, t := range w.Terms {
		w.Scales = append(w.Scales, x.of(t))
	}
	axes, scales := x.At(w.Term().Buffer).Tensor.Axes, x.At(x.of(w.Term()).Buffer)
	columns := axes[len(axes)-1]
	w.Columns = hostir.Extent(columns.Extent)
	if block, ok := blockAxis(scales.Tensor); ok {
		_, n, _ := block.Extent.Blocks()
		w.Columns = hostir.Const(n)
		return w
	}
	x.multiple(columns, unit)
	return w
}

// narrow gives a product by a weight of eight bits its kernel: the library has none.
func (x *scaling) narrow(s *hostir.Step, w hostir.Product) {
	if !x.At(w.A.Buffer).Counts.IsZero() || !x.At(w.To.Buffer).Counts.IsZero() {
		x.wrong = cmp.Or(x.wrong, schedule.Refused("Tensors", "let the ranks have equal parts",
			"no kernel multiplies uneven rows by %s of eight bits", w.B.Buffer))
	}
	if s.By = w.Kernel(); s.By == "" {
		x.wrong = cmp.Or(x.wrong, schedule.Refused(x.way(), "leave Way out, or give both operands eight bits",
			"the kernel that multiplies by %s of eight bits stores its sums on its own rank, as they are", w.B.Buffer))
	}
}

// way is the field of the way by which the last tensor travels.
func (x *scaling) way() string {
	path := hostir.MovesField
	for _, e := range x.Edges {
		path = cmp.Or(e.Path, path)
	}
	return path
}

// of is where the scales of a view lie: beside its rows, or the one that all have; none where it has none.
func (x *scaling) of(v hostir.View) hostir.View {
	scale := x.scaleOf[v.Buffer]
	if scale == "" {
		return hostir.View{}
	}
	if !x.ofRows[scale] {
		return hostir.Whole(scale)
	}
	v.Buffer = scale
	return v
}

// fits asks of the shape what products of eight bits need: units of 16 bytes. With scales of blocks a row of the
// weight's squares is such a unit, and rows come in eights.
func (x *scaling) fits(w hostir.Product) {
	unit, columns, rows := int64(16), int64(16), int64(4) // of elements, and of scales
	a := x.At(w.A.Buffer)
	if square, _ := blockAxis(x.At(w.ScaleB.Buffer).Tensor); w.InBlocks {
		_, columns, _ = square.Extent.Blocks()
		if unit, rows = 4*columns, 8; w.Narrow() { // by a kernel of ours
			unit = columns
		}
	}
	x.multiple(a.Tensor.Axes[len(a.Tensor.Axes)-1], unit)
	x.multiple(x.At(w.B.Buffer).Tensor.Axes[0], columns)
	first := w.ScaleA.Index.IsZero() || w.ScaleA.Index.Equal(hostir.Const(0))
	if w.InBlocks && !w.Narrow() || x.ofRows[w.ScaleA.Buffer] && !first {
		x.multiple(a.Tensor.Axes[len(a.Tensor.Axes)-2], rows)
	}
	uneven := !a.Counts.IsZero() || !x.At(w.To.Buffer).Counts.IsZero()
	if uneven && x.ofRows[w.ScaleA.Buffer] && !first {
		rows := strings.TrimSuffix(w.A.Buffer, hostir.GatheredSuffix)
		x.wrong = cmp.Or(x.wrong, schedule.Refused(x.way(),
			"leave it out, as all rows are then taken at once, or give them one scale",
			"a product reads scales from multiples of 16 bytes, and those of one rank's rows of %s begin anywhere",
			rows))
	}
	partOfA := !w.A.Count.IsZero() || w.A.Index.IsZero() && !a.Chunk.Equal(a.Elements)
	if w.InBlocks && (!w.B.Index.IsZero() || partOfA && !w.Narrow()) {
		x.wrong = cmp.Or(x.wrong, x.apart(w.A.Buffer))
	}
}

// multiple asks of the shape that each part of an axis is a multiple of a number.
func (x *scaling) multiple(a schedule.Axis, n int64) {
	check := hostir.Divide{Extent: a.Extent, By: schedule.Number(n)}
	cut := func(c hostir.Divide) bool {
		return c.Extent == a.Extent && c.By == schedule.D && c.With == "" && c.Heads == ""
	}
	i := slices.IndexFunc(x.Checks, cut)
	switch {
	case i < 0:
		x.Ask(check)
	case x.asked[a.Extent] < n:
		x.Checks[i].Times = max(x.Checks[i].Times, 1) * n / max(x.asked[a.Extent], 1)
		x.asked[a.Extent] = n
	}
}
