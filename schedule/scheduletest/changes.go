package scheduletest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
)

// Change is a schedule with one field set to another value.
type Change struct {
	Name string // the field's path, and its new value
	schedule.Schedule
}

// Item is the path of the part of the schedule that has the field: "Tensors[1]", "Types".
func (c Change) Item() string {
	path, _, _ := strings.Cut(c.Name, " ")
	item, _, _ := strings.Cut(path, ".")
	return item
}

// Changes are all schedules that differ from one in one field: of the mesh, of its element
// types, of a tensor, of an operation or of a move.
func Changes(s schedule.Schedule) (list []Change) {
	for _, e := range edits(s) {
		if c, ok := e.of(s); ok {
			list = append(list, c)
		}
	}
	return list
}

// OneOf is one of the changes of a schedule.
func OneOf(r *rand.Rand, s schedule.Schedule) Change {
	list := edits(s)
	for {
		if c, ok := list[r.IntN(len(list))].of(s); ok {
			return c
		}
	}
}

// edit sets a field of a schedule.
type edit struct {
	name string
	set  func(*schedule.Schedule)
}

// of is a schedule after an edit; changed is false where that leaves it as it was.
func (e edit) of(s schedule.Schedule) (c Change, changed bool) {
	after := Clone(s)
	e.set(&after)
	return Change{e.name, after}, !reflect.DeepEqual(after, s)
}

// edits are the edits of all fields.
func edits(s schedule.Schedule) []edit {
	c := &changes{from: s}
	c.mesh()
	c.types()
	c.add("FewRows", func(s *schedule.Schedule) { s.FewRows = 64 - s.FewRows })
	c.add("Invariant", func(s *schedule.Schedule) { s.Invariant = !s.Invariant })
	c.multiples()
	for i := range s.Tensors {
		c.tensor(i)
	}
	for i := range s.Ops {
		c.op(i)
	}
	c.moves()
	return c.list
}

// changes collects the edits of one schedule.
type changes struct {
	from schedule.Schedule
	list []edit
}

func (c *changes) add(name string, set func(*schedule.Schedule)) {
	c.list = append(c.list, edit{name, set})
}

// Clone shares nothing with the schedule.
func Clone(s schedule.Schedule) schedule.Schedule {
	s.Mesh, s.Types, s.Moves = slices.Clone(s.Mesh), slices.Clone(s.Types), slices.Clone(s.Moves)
	s.Tensors, s.Multiples = slices.Clone(s.Tensors), maps.Clone(s.Multiples)
	for i := range s.Tensors {
		t := &s.Tensors[i]
		t.Axes = slices.Clone(t.Axes)
		for j := range t.Axes {
			t.Axes[j].Outer = slices.Clone(t.Axes[j].Outer)
		}
	}
	s.Ops = slices.Clone(s.Ops)
	for i := range s.Ops {
		o := &s.Ops[i]
		o.In, o.Then, o.Kernel.Args = slices.Clone(o.In), slices.Clone(o.Then), slices.Clone(o.Kernel.Args)
		o.Also = slices.Clone(o.Also)
	}
	return s
}

func (c *changes) mesh() {
	for _, a := range []schedule.MeshAxis{{Name: schedule.DeviceY}, {Name: "DIDz"},
		{Name: schedule.DeviceX, Link: schedule.Network}} {
		c.add(fmt.Sprintf("Mesh %v", a), func(s *schedule.Schedule) { s.Mesh = []schedule.MeshAxis{a} })
	}
	c.add("Mesh over hosts", func(s *schedule.Schedule) { s.Mesh = schedule.Hosts() })
}

func (c *changes) multiples() {
	set := func(e schedule.Extent, of string) {
		c.add(fmt.Sprintf("Multiples[%s] %s", e, of), func(s *schedule.Schedule) {
			s.Multiples = map[schedule.Extent]string{e: of}
		})
	}
	for _, e := range append(schedule.Extents(), schedule.D, "X") {
		set(e, "5*D")
	}
	for _, of := range []string{"7", "1", "X"} {
		set(schedule.M, of)
	}
}

func (c *changes) types() {
	for _, list := range [][]schedule.Type{{schedule.FP32}, {schedule.BF16, schedule.FP16},
		{schedule.FP32, schedule.FP32}, {"fp4"}, {""}} {
		c.add(fmt.Sprintf("Types %v", list), func(s *schedule.Schedule) { s.Types = list })
	}
}

func (c *changes) tensor(i int) {
	at := fmt.Sprintf("Tensors[%d]", i)
	of := func(set func(*schedule.Tensor)) func(*schedule.Schedule) {
		return func(s *schedule.Schedule) { set(&s.Tensors[i]) }
	}
	c.add(at+".Root", of(func(t *schedule.Tensor) { t.Root = !t.Root }))
	c.add(at+".Type", of(func(t *schedule.Tensor) { t.Type = schedule.FP16 }))
	for _, name := range []string{"A", "X", "x"} {
		c.add(at+".Name "+name, of(func(t *schedule.Tensor) { t.Name = name }))
	}
	for _, other := range c.from.Tensors {
		c.add(at+".Within "+other.Name, of(func(t *schedule.Tensor) { t.Within = other.Name }))
	}
	for j, a := range c.from.Tensors[i].Axes {
		axis := fmt.Sprintf("%s.Axes[%d]", at, j)
		for _, e := range []schedule.Extent{schedule.M, schedule.F, schedule.D, "24", "0"} {
			c.add(axis+".Extent "+string(e), of(func(t *schedule.Tensor) { t.Axes[j].Extent = e }))
		}
		for _, s := range []schedule.Split{schedule.DIDx(schedule.D), {Kind: schedule.DeviceY, Count: "2"},
			schedule.Stream(schedule.D), {Kind: schedule.Plain, Count: "2"}} {
			c.add(fmt.Sprintf("%s.Outer and %v", axis, s),
				of(func(t *schedule.Tensor) { t.Axes[j].Outer = append(t.Axes[j].Outer, s) }))
		}
		for k := range a.Outer {
			c.split(i, j, k)
		}
	}
}

func (c *changes) split(i, j, k int) {
	add := func(what string, set func(*schedule.Split)) {
		c.add(fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].%s", i, j, k, what),
			func(s *schedule.Schedule) { set(&s.Tensors[i].Axes[j].Outer[k]) })
	}
	for _, n := range []int{0, 1, 2, -1} {
		add(fmt.Sprintf("Shift %d", n), func(s *schedule.Split) { s.Shift = n })
	}
	add("Uneven", func(s *schedule.Split) { s.Uneven = !s.Uneven })
	add("Balanced", func(s *schedule.Split) { s.Balanced = !s.Balanced })
	add("Uneven and Balanced", func(s *schedule.Split) { s.Uneven, s.Balanced = !s.Uneven, !s.Balanced })
	for _, most := range []schedule.Extent{"", "3", schedule.P} {
		add("Most "+string(most), func(s *schedule.Split) { s.Most = most })
	}
	for _, n := range []schedule.Extent{"2", "3", schedule.D} {
		add("Count "+string(n), func(s *schedule.Split) { s.Count = n })
	}
	for _, kind := range []schedule.SplitKind{schedule.Plain, schedule.DeviceX, schedule.DeviceY, schedule.StreamAxis} {
		add("Kind "+string(kind), func(s *schedule.Split) { s.Kind = kind })
	}
}

func (c *changes) op(i int) {
	at := fmt.Sprintf("Ops[%d]", i)
	of := func(set func(*schedule.Op)) func(*schedule.Schedule) {
		return func(s *schedule.Schedule) { set(&s.Ops[i]) }
	}
	for _, t := range append([]schedule.Tensor{{Name: "X"}}, c.from.Tensors...) {
		c.add(at+".Out "+t.Name, of(func(o *schedule.Op) { o.Out = t.Name }))
		for j := range c.from.Ops[i].In {
			c.add(fmt.Sprintf("%s.In[%d] %s", at, j, t.Name), of(func(o *schedule.Op) { o.In[j] = t.Name }))
		}
	}
	for _, index := range []string{"mk,nk->mn", "mk,kn->mn", "mn,mk->nk", "d...->...", "...->...", "ab,cb->ac",
		"abc->abc", "abc->bc", "mk,nk->nm", "mk", ""} {
		c.add(at+".Index "+index, of(func(o *schedule.Op) { o.Index = index }))
	}
	for _, f := range []schedule.Func{schedule.GELU(), schedule.Bias("Bias"), schedule.Bias("B"),
		{Is: schedule.Expr{Do: "sine"}}} {
		c.add(fmt.Sprintf("%s.Then and %s", at, f), of(func(o *schedule.Op) { o.Then = append(o.Then, f) }))
	}
	c.add(at+".Invariant", of(func(o *schedule.Op) { o.Invariant = !o.Invariant }))
	if c.from.Ops[i].Call != "" {
		kernel := func(name string, set func(*schedule.Kernel)) {
			c.add(at+".Kernel."+name, of(func(o *schedule.Op) { set(&o.Kernel) }))
		}
		kernel("File", func(k *schedule.Kernel) { k.File = "other.cu" })
		kernel("File none", func(k *schedule.Kernel) { k.File = "" })
		kernel("Name", func(k *schedule.Kernel) { k.Name = "other" })
		kernel("Blocks", func(k *schedule.Kernel) { k.Blocks = "2*M" })
		kernel("Threads", func(k *schedule.Kernel) { k.Threads = 96 })
		kernel("Args", func(k *schedule.Kernel) { k.Args = append(k.Args, "M+1") })
		for _, m := range []schedule.Makes{schedule.OwnRows, schedule.Summands, "all"} {
			c.add(fmt.Sprintf("%s.Makes %s", at, m), of(func(o *schedule.Op) { o.Makes = m }))
		}
	}
	for _, m := range []schedule.Made{{Out: "X"}, {Out: "C"}, {Out: "X", After: 1}, {Out: "", After: -1}} {
		c.add(fmt.Sprintf("%s.Also %s after %d", at, m.Out, m.After), of(func(o *schedule.Op) {
			o.Also = append(o.Also, m)
		}))
	}
	for j := range c.from.Ops[i].Then {
		c.add(fmt.Sprintf("%s.Then[%d].Epsilon", at, j), of(func(o *schedule.Op) { o.Then[j].Epsilon = 1e-6 }))
		c.add(fmt.Sprintf("%s.Then without %d", at, j), of(func(o *schedule.Op) {
			o.Then = slices.Delete(o.Then, j, j+1)
		}))
	}
}

// moves sets each way for each tensor, and each value of each option.
func (c *changes) moves() {
	for i := range c.from.Moves {
		c.add(fmt.Sprintf("Moves[%d] left out", i), func(s *schedule.Schedule) {
			s.Moves = slices.Delete(s.Moves, i, i+1)
		})
	}
	for _, t := range c.from.Tensors {
		i := slices.IndexFunc(c.from.Moves, func(m schedule.Move) bool { return m.Of == t.Name })
		for _, w := range schedule.Ways() {
			if i >= 0 {
				c.add(fmt.Sprintf("Moves[%d].Way %s", i, schedule.WayName(w)),
					func(s *schedule.Schedule) { s.Moves[i].Way = w })
				continue
			}
			name := fmt.Sprintf("Moves[%d] of %s by %s", len(c.from.Moves), t.Name, schedule.WayName(w))
			c.add(name, func(s *schedule.Schedule) {
				s.Moves = append(s.Moves, schedule.Move{Of: t.Name, Way: w})
			})
		}
		if i < 0 {
			continue
		}
		for _, w := range With(c.from.Moves[i].Way) {
			c.add(fmt.Sprintf("Moves[%d].Way %+v", i, w), func(s *schedule.Schedule) { s.Moves[i].Way = w })
		}
	}
}

// With are a way with each of its options set to each of its values, also to none.
func With(w schedule.Way) (list []schedule.Way) {
	if w == nil {
		return nil
	}
	for i := range reflect.TypeOf(w).NumField() {
		for _, v := range values(w, reflect.TypeOf(w).Field(i).Name) {
			x := reflect.New(reflect.TypeOf(w)).Elem()
			x.Set(reflect.ValueOf(w))
			x.Field(i).Set(v)
			list = append(list, x.Interface().(schedule.Way))
		}
	}
	return list
}

// values are the values of an option that tests try: of a number, the values up to three.
func values(w schedule.Way, field string) []reflect.Value {
	f, _ := reflect.TypeOf(w).FieldByName(field)
	list := []reflect.Value{reflect.Zero(f.Type)}
	for _, text := range schedule.OptionValues(w, field) {
		switch f.Type.Kind() {
		case reflect.Bool:
			list = append(list, reflect.ValueOf(true))
		case reflect.Int:
			most, _ := strconv.Atoi(strings.TrimPrefix(text, "1.."))
			for n := range min(3, most) {
				list = append(list, reflect.ValueOf(n+1))
			}
		default:
			list = append(list, reflect.ValueOf(text).Convert(f.Type))
		}
	}
	return list
}

// Without are a way with each of the options that it sets left open.
func Without(w schedule.Way) (list []schedule.Way) {
	v := reflect.ValueOf(w)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			x := reflect.New(v.Type()).Elem()
			x.Set(v)
			x.Field(i).SetZero()
			list = append(list, x.Interface().(schedule.Way))
		}
	}
	return list
}
