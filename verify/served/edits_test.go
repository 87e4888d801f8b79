package served

import (
	"fmt"
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// edit changes one thing of a schedule; ok is false where that leaves it as it was.
type edit struct {
	name string
	of   func(form) form
}

// editing lists what a user may change in a schedule, beside its single fields.
type editing struct {
	form
	list []edit
}

// editsOf are the changes of a schedule.
func editsOf(f form) []edit {
	e := &editing{form: f}
	for i, t := range f.Tensors {
		e.placements(i, t)
		e.types(t)
	}
	e.everywhere()
	for i := range f.Ops {
		e.operations(i)
		e.functions(i)
		e.results(i)
	}
	e.ways()
	return e.list
}

// add adds a change of a copy.
func (e *editing) add(name string, set func(*form)) {
	e.list = append(e.list, edit{name, func(f form) form {
		f.Schedule = scheduletest.Clone(f.Schedule)
		set(&f)
		return f
	}})
}

// cuts are ways to spread an axis, and not to.
var cuts = []s.Split{s.DIDx(s.D), s.Balanced(s.D), {Kind: s.DeviceX, Count: s.D, Uneven: true},
	{Kind: s.DeviceX, Count: s.D, Uneven: true, Most: s.P}, {Kind: s.DeviceX, Count: s.D, Shift: 1}, s.Stream(s.D)}

// placements are those of a tensor: one axis is spread, or none.
func placements(t s.Tensor) (list []s.Tensor) {
	bare := t
	bare.Axes = slices.Clone(t.Axes)
	for i := range bare.Axes {
		bare.Axes[i].Outer = nil
	}
	list = append(list, bare)
	for i := range t.Axes {
		for _, c := range cuts {
			x := bare
			x.Axes = slices.Clone(bare.Axes)
			x.Axes[i].Outer = []s.Split{c}
			list = append(list, x)
		}
	}
	bare.Root = !t.Root
	return append(list, bare)
}

// placements spreads a tensor otherwise, leaves it out, or moves it to the end.
func (e *editing) placements(i int, t s.Tensor) {
	for _, x := range placements(t) {
		e.add(fmt.Sprintf("%s placed %v, root %v", t.Name, x, x.Root), func(f *form) { f.Tensors[i] = x })
	}
	e.add(t.Name+" left out", func(f *form) { f.Tensors = slices.Delete(f.Tensors, i, i+1) })
	e.add(t.Name+" constant", func(f *form) { f.Tensors[i].Constant = !f.Tensors[i].Constant })
	e.add(t.Name+" with an axis more", func(f *form) {
		f.Tensors[i].Axes = slices.Insert(f.Tensors[i].Axes, 0, s.Dim("4"))
	})
	for _, x := range e.Tensors[i+1:] {
		e.add("a name for "+t.Name+" and "+x.Name, func(f *form) { f.rename(x.Name, t.Name) })
	}
}

// types gives a tensor another element type, and scales to one of few bits.
func (e *editing) types(t s.Tensor) {
	for _, typ := range []s.Type{s.FP32, s.BF16, s.I32, s.E4M3, s.UE8M0} {
		e.add(t.Name+" of "+string(typ), func(f *form) { *f = f.changed(t.Name, func(t *s.Tensor) { t.Type = typ }) })
	}
	if len(t.Axes) == 0 || t.Type.Coded() {
		return
	}
	for _, c := range []struct {
		what string
		of   func(f form, names ...string) form
	}{
		{"a scale", func(f form, n ...string) form { return f.eight(false, n...) }},
		{"scales of rows", func(f form, n ...string) form { return f.eight(true, n...) }},
		{"scales of parts", form.inParts}, {"scales of blocks", form.blocked}, {"four bits", form.fp4},
		{"MX of eight", func(f form, n ...string) form { return f.mx(s.E4M3, n...) }},
	} {
		e.add(t.Name+" with "+c.what, func(f *form) { *f = c.of(*f, t.Name) })
		for _, o := range e.Ops {
			if len(o.In) > 1 && o.In[0] == t.Name {
				e.add(o.Out+"'s operands with "+c.what, func(f *form) { *f = c.of(*f, o.In...) })
			}
		}
	}
}

// everywhere changes all tensors at once: rows whose number the ranks don't divide, rows of batches, no spread rows.
func (e *editing) everywhere() {
	for _, extent := range []s.Extent{s.M, s.K, s.N, s.F} {
		for _, c := range cuts {
			e.add(fmt.Sprintf("all parts of %s by %v", extent, c), func(f *form) {
				f.axes(extent, func(a *s.Axis) {
					for i, x := range a.Outer {
						if x.Kind == s.DeviceX {
							a.Outer[i] = c
						}
					}
				})
			})
		}
		e.add(fmt.Sprintf("all of %s whole", extent), func(f *form) {
			f.axes(extent, func(a *s.Axis) { a.Outer = nil })
		})
		e.add(fmt.Sprintf("batches of %s", extent), func(f *form) {
			f.axes(extent, func(a *s.Axis) { a.Outer = append([]s.Split{{Kind: s.Plain, Count: "2"}}, a.Outer...) })
		})
		e.add(fmt.Sprintf("%s is 24", extent), func(f *form) { f.axes(extent, func(a *s.Axis) { a.Extent = "24" }) })
		e.add(fmt.Sprintf("%s is 1", extent), func(f *form) { f.axes(extent, func(a *s.Axis) { a.Extent = "1" }) })
	}
}

// axes changes all axes of an extent.
func (f *form) axes(of s.Extent, set func(*s.Axis)) {
	for i := range f.Tensors {
		for j := range f.Tensors[i].Axes {
			if a := &f.Tensors[i].Axes[j]; a.Extent == of {
				set(a)
			}
		}
	}
}

// rename has operations read and make a tensor in place of another, which is left out.
func (f *form) rename(from, to string) {
	f.Tensors = slices.DeleteFunc(f.Tensors, func(t s.Tensor) bool { return t.Name == from })
	for i := range f.Ops {
		o := &f.Ops[i]
		for j := range o.In {
			if o.In[j] == from {
				o.In[j] = to
			}
		}
	}
}

// operations leaves an operation out, swaps it with the next, and puts others behind it.
func (e *editing) operations(i int) {
	o := e.Ops[i]
	at := fmt.Sprintf("Ops[%d]", i)
	e.add(at+" left out", func(f *form) { f.Ops = slices.Delete(f.Ops, i, i+1) })
	e.add(at+" twice", func(f *form) { f.Ops = slices.Insert(f.Ops, i, o) })
	e.add(at+" last", func(f *form) { f.Ops = append(slices.Delete(f.Ops, i, i+1), o) })
	e.add(at+" first", func(f *form) { f.Ops = slices.Insert(slices.Delete(f.Ops, i, i+1), 0, o) })
	for _, name := range append([]string{o.Out}, o.In[:min(1, len(o.In))]...) {
		columns, placed := e.columns(name), e.like(name)
		for _, more := range []s.Op{s.Linear("More", name, "Weight"), s.Matmul("More", name, "Weight"),
			s.Gradient("More", name, "Weight"), s.Copy("More", name), s.Copy("More", name, s.RMSNorm("Weight")),
			s.Sum("More", name), s.Call("More", "Own", "mn->mn", name), s.CallRows("More", "Own", "mn->mn", name)} {
			for _, result := range placed {
				for _, weight := range weights(more, columns) {
					e.add(fmt.Sprintf("%s behind %v, More %v, Weight %v", at, more, result, weight),
						func(f *form) {
							f.Ops = slices.Insert(f.Ops, i+1, more)
							f.Tensors = append(f.Tensors, result)
							f.Tensors = append(f.Tensors, weight...)
						})
				}
			}
		}
	}
}

// like are placements for a result beside a tensor: as that, and three usual ones.
func (e *editing) like(name string) []s.Tensor {
	list := scheduletest.Tensors("More[M N] More[M/D N] More[M N/D]")
	if t, ok := e.Tensor(name); ok {
		t.Name, t.Scale, t.Within, t.Type = "More", "", "", ""
		list = append(list, t)
	}
	return list
}

// columns is the extent of a tensor's last axis.
func (e *editing) columns(name string) s.Axis {
	if t, ok := e.Tensor(name); ok && len(t.Axes) > 0 {
		return t.Axes[len(t.Axes)-1]
	}
	return s.Dim(s.N)
}

// weights are the weights of an operation on rows of some columns.
func weights(o s.Op, columns s.Axis) [][]s.Tensor {
	one := func(axes ...s.Axis) []s.Tensor { return []s.Tensor{{Name: "Weight", Axes: axes}} }
	switch name := o.Name(); {
	case name == "linear":
		return [][]s.Tensor{one(s.Dim(s.N), columns), one(s.Dim(s.N, s.DIDx(s.D)), columns)}
	case name == "matmul":
		return [][]s.Tensor{one(columns, s.Dim(s.N)), one(columns, s.Dim(s.N, s.DIDx(s.D)))}
	case name == "gradient":
		return [][]s.Tensor{one(s.Dim(s.M), s.Dim(s.N)), one(s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N))}
	case len(o.Then) > 0:
		return [][]s.Tensor{one(columns)}
	}
	return [][]s.Tensor{nil}
}

// functions puts a function before each of an operation's, and behind all, and leaves each out.
func (e *editing) functions(i int) {
	o := e.Ops[i]
	list := []s.Func{s.GELU(), s.Scale(.5), s.Softmax(), s.Rounded(), s.RMSNorm("Weight"), s.Bias("Weight"),
		s.RMSNorm("Head").PerHead("64"), s.Rotary("Table"), s.Add("More"), s.SwiGLU("More"), s.Quantise(),
		s.QuantiseFP4(), s.QuantiseMXFP4(), s.LayerNorm("Weight", "Weight")}
	for _, name := range e.names() {
		list = append(list, s.Add(name), s.Multiply(name))
	}
	for at := range len(o.Then) + 1 {
		for _, x := range list {
			for _, placed := range e.operands(o, x) {
				e.add(fmt.Sprintf("Ops[%d].Then[%d] before it %v, of %v", i, at, x, placed), func(f *form) {
					f.Ops[i].Then = slices.Insert(f.Ops[i].Then, at, x)
					f.Tensors = append(f.Tensors, placed...)
				})
			}
		}
	}
	for at := range o.Then {
		e.add(fmt.Sprintf("Ops[%d].Then[%d] behind a copy", i, at), func(f *form) { f.cut(i, at) })
	}
}

// cut makes the functions from one on behind a copy of what the others make.
func (f *form) cut(i, at int) {
	o := f.Ops[i]
	last := s.Copy(o.Out, "Half", o.Then[at:]...)
	last.Also = o.Also
	o.Out, o.Then, o.Also = "Half", slices.Clone(o.Then[:at]), nil
	f.Ops[i] = o
	f.Ops = slices.Insert(f.Ops, i+1, last)
}

// names are the names of all tensors, declared or not.
func (e *editing) names() (list []string) {
	for _, t := range e.Tensors {
		list = append(list, t.Name)
	}
	return append(list, e.Hidden()...)
}

// operands are the tensors that a new function needs, as they may be placed.
func (e *editing) operands(o s.Op, x s.Func) [][]s.Tensor {
	columns := e.columns(o.Out)
	switch reads := x.Reads(); {
	case slices.Contains(reads, "Weight"):
		spread := s.Dim(columns.Extent, s.DIDx(s.D))
		return [][]s.Tensor{{{Name: "Weight", Axes: []s.Axis{columns}}}, {{Name: "Weight", Axes: []s.Axis{spread}}},
			{{Name: "Weight", Axes: []s.Axis{s.Dim(columns.Extent)}}}}
	case slices.Contains(reads, "Head"):
		return [][]s.Tensor{scheduletest.Tensors("Head[64]")}
	case slices.Contains(reads, "Table"):
		return [][]s.Tensor{scheduletest.Tensors("Table[M W]"), scheduletest.Tensors("Table[M/D W]")}
	case slices.Contains(reads, "More"):
		var list [][]s.Tensor
		for _, t := range e.like(o.Out) {
			list = append(list, []s.Tensor{t})
		}
		return list
	}
	return [][]s.Tensor{nil}
}

// results keeps what the first functions make, and declares what nobody gets.
func (e *editing) results(i int) {
	o := e.Ops[i]
	for after := range len(o.Then) {
		for _, t := range e.like(o.Out) {
			e.add(fmt.Sprintf("Ops[%d] keeping More %v after %d", i, t, after), func(f *form) {
				f.Ops[i] = f.Ops[i].Keeping("More", after)
				f.Tensors = append(f.Tensors, t)
			})
		}
	}
	if _, declared := e.Tensor(o.Out); declared {
		return
	}
	for _, t := range e.like(o.Out) {
		t.Name = o.Out
		for _, rows := range [][]s.Split{nil, {s.DIDx(s.D)}} {
			for _, last := range e.extents() {
				t.Axes = slices.Clone(t.Axes)
				t.Axes[len(t.Axes)-1].Extent = last
				if len(rows) > 0 && len(t.Axes[0].Outer) > 0 {
					continue
				}
				e.add(fmt.Sprintf("%s declared %v", o.Out, t), func(f *form) { f.Tensors = append(f.Tensors, t) })
			}
		}
	}
}

// extents are those of the schedule.
func (e *editing) extents() (list []s.Extent) {
	for _, t := range e.Tensors {
		for _, a := range t.Axes {
			if !slices.Contains(list, a.Extent) {
				list = append(list, a.Extent)
			}
		}
	}
	return list
}

// ways moves each tensor by each way, each option at each of its values.
func (e *editing) ways() {
	p, err := lower.Lower("X", e.Schedule)
	for _, name := range e.names() {
		travels := err != nil || slices.ContainsFunc(p.Edges, func(x hostir.Edge) bool { return x.Of == name })
		t, _ := e.Tensor(name)
		_, _, spread := t.Sharded()
		for _, w := range s.Ways() {
			if s.WayName(w) != "Pull" && (!travels || !spread && !t.Root && !e.Made(name)) {
				continue
			}
			for _, w := range append(scheduletest.With(w), w) {
				e.add(fmt.Sprintf("%s by %s%+v", name, s.WayName(w), w), func(f *form) {
					i := slices.IndexFunc(f.Moves, func(m s.Move) bool { return m.Of == name })
					if i < 0 {
						f.Moves = append(f.Moves, s.Move{Of: name, Way: w})
					} else {
						f.Moves[i].Way = w
					}
				})
			}
		}
	}
}
