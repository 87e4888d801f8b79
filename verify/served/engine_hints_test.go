package served

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/scheduletest"
)

// found is a refused schedule, a copy, the place that the refusal names, and the words that its hint is about.
type found struct {
	s.Schedule
	path    string
	op      int // -1: the path is of no operation
	then    int
	hint    string
	matched []string
}

// hints are the changes that hints ask for.
var hints = []struct {
	text *regexp.Regexp
	do   func(t *testing.T, f found) []s.Schedule
}{
	{regexp.MustCompile(`^use schedule.CallRows, if (\w+) can`), ofOwnRows},
	{regexp.MustCompile(`^use schedule.Linear and place (\w+) \[(.*?)\]`), turned},
	{regexp.MustCompile(`^end the schedule with (\w+)(?: \[(.*?)\]|, placed \[(.*?)\])?,`), ended},
	{regexp.MustCompile(`^end the operation before .*, and go on with \w+ behind`), shortened},
	{regexp.MustCompile(`^give it an operation of its own: schedule.Copy\("(\w+)", "(\w+)", `), itsOwn},
	{regexp.MustCompile(`^give it an operation of its own: schedule.Call\("(\w+)", "(\w+)", "(.*?)", "(\w+)", "(\w+)"`),
		itsCall},
	{regexp.MustCompile(`make (\w+) by a schedule of its own(?:, with ([\w ]+) as operands?)?`), inTwo},
	{regexp.MustCompile(`^put this operation behind Ops\[(\d+)\]`), putBehind},
	{regexp.MustCompile(`^add (\w+) to (\w+) in Ops\[(\d+)\]`), addedThere},
	{regexp.MustCompile(`^add up (\w+) and (\w+) before`), withoutFunction},
	{regexp.MustCompile(`^leave Within out of (\w+)`), notWithin},
	{regexp.MustCompile(`^do (\w+) before the plan, and declare (\w+) as an operand`), calledBefore},
	{regexp.MustCompile(`^leave it out, and the type of (\w+)`), untyped},
	{regexp.MustCompile(`^use an extent that no axis has yet`), otherExtent},
	{regexp.MustCompile(`put it behind the linear that makes (\w+), in one schedule`), behindLinear},
	{regexp.MustCompile(`(?:^|: |; )(?:place|declare) \w+ \[`), rePlaced},
	{regexp.MustCompile(`^name a tensor that an earlier`), withoutFunction},
	{regexp.MustCompile(`^use (schedule\.)?[A-Z]\w+`), otherWay},
	{regexp.MustCompile(`^move \w+`), unmoved},
	{regexp.MustCompile(`^state Multiples, of (\w+) "(.*?)"`), stated},
}

// applied is what a hint makes of a schedule: one, or two that do its work together.
func applied(t *testing.T, x s.Schedule, e *s.FieldError) ([]s.Schedule, error) {
	t.Helper()
	for _, h := range hints {
		m := h.text.FindStringSubmatch(e.Hint)
		if m == nil {
			continue
		}
		f := found{Schedule: scheduletest.Clone(x), path: e.Path, op: -1, then: -1, hint: e.Hint, matched: m}
		fmt.Sscanf(e.Path, "Ops[%d].Then[%d]", &f.op, &f.then)
		var list []s.Schedule
		for _, y := range h.do(t, f) {
			list = append(list, tidy(y))
		}
		return list, nil
	}
	return nil, fmt.Errorf("no test follows %q", e.Hint)
}

func (f found) one() []s.Schedule { return []s.Schedule{f.Schedule} }

// at is the number of the operation that makes a tensor.
func (f found) at(name string) int {
	return slices.IndexFunc(f.Ops, func(o s.Op) bool { return o.Out == name })
}

// place gives a tensor a placement, and declares it if it is not.
func (f *found) place(name, axes string) {
	f.Tensors = slices.DeleteFunc(f.Tensors, func(t s.Tensor) bool { return t.Name == name })
	f.Tensors = append(f.Tensors, s.Tensor{Name: name, Axes: axesOf(axes)})
}

func ofOwnRows(_ *testing.T, f found) []s.Schedule {
	f.Ops[f.op].Makes = s.OwnRows
	return f.one()
}

func turned(_ *testing.T, f found) []s.Schedule {
	f.Ops[f.op].Index = s.Linear("", "", "").Index
	f.place(f.matched[1], f.matched[2])
	return f.one()
}

func ended(_ *testing.T, f found) []s.Schedule {
	name, axes := f.matched[1], f.matched[2]+f.matched[3]
	i := f.at(name)
	f.Ops = f.Ops[:i+1]
	if i == f.op && f.then >= 0 {
		f.Ops[i].Then = f.Ops[i].Then[:f.then]
	}
	if axes != "" {
		f.place(name, axes)
	}
	return f.one()
}

func shortened(_ *testing.T, f found) []s.Schedule {
	f.Ops[f.op].Then = f.Ops[f.op].Then[:f.then]
	return f.one()
}

func itsOwn(_ *testing.T, f found) []s.Schedule {
	o, from := f.Ops[f.op], f.then
	if o.Then[from].Word == "rotary" && from < len(o.Then)-1 {
		from++
	}
	return f.split(from, f.matched[2], s.Copy(f.matched[1], f.matched[2], o.Then[from:]...))
}

func itsCall(_ *testing.T, f found) []s.Schedule {
	m := f.matched
	return f.split(f.then, m[4], s.Call(m[1], m[2], m[3], m[4], m[5]))
}

// split ends an operation before a function, and lets another one go on with what it makes.
func (f found) split(from int, before string, second s.Op) []s.Schedule {
	o := &f.Ops[f.op]
	if before == o.In[0] {
		*o = second
		return f.one()
	}
	o.Out, o.Then = before, o.Then[:from]
	f.Ops = slices.Insert(f.Ops, f.op+1, second)
	return f.one()
}

func inTwo(_ *testing.T, f found) []s.Schedule {
	i := f.at(f.matched[1])
	own, rest := f.Schedule, f.Schedule
	own.Ops = []s.Op{f.Ops[i]}
	rest.Ops = slices.Delete(slices.Clone(f.Ops), i, i+1)
	for _, x := range []*s.Schedule{&own, &rest} {
		x.Moves = slices.DeleteFunc(slices.Clone(f.Moves), func(m s.Move) bool { return f.Made(m.Of) && !x.Made(m.Of) })
	}
	return []s.Schedule{own, rest}
}

func putBehind(_ *testing.T, f found) []s.Schedule {
	var i int
	fmt.Sscan(f.matched[1], &i)
	o := f.Ops[f.op]
	f.Ops = slices.Delete(slices.Insert(f.Ops, i+1, o), f.op, f.op+1)
	return f.one()
}

func addedThere(_ *testing.T, f found) []s.Schedule {
	i := f.at(f.matched[2])
	o := &f.Ops[f.op]
	o.Then = slices.DeleteFunc(o.Then, func(x s.Func) bool { return slices.Contains(x.Reads(), f.matched[1]) })
	f.Ops[i].Then = append(f.Ops[i].Then, s.Add(f.matched[1]))
	return f.one()
}

func withoutFunction(_ *testing.T, f found) []s.Schedule {
	o := &f.Ops[f.op]
	o.Then = slices.Delete(o.Then, f.then, f.then+1)
	return f.one()
}

func notWithin(_ *testing.T, f found) []s.Schedule {
	i := slices.IndexFunc(f.Tensors, func(t s.Tensor) bool { return t.Name == f.matched[1] })
	f.Tensors[i].Within = ""
	return f.one()
}

func calledBefore(_ *testing.T, f found) []s.Schedule {
	i := f.at(f.matched[2])
	f.Ops = slices.Delete(f.Ops, i, i+1)
	return f.one()
}

func untyped(_ *testing.T, f found) []s.Schedule {
	for i := range f.Tensors {
		if f.Tensors[i].Name == f.matched[1] {
			f.Tensors[i].Type = ""
		}
	}
	return f.one()
}

func otherExtent(_ *testing.T, f found) []s.Schedule {
	used := func(e s.Extent) bool {
		return slices.ContainsFunc(f.Tensors, func(t s.Tensor) bool {
			return slices.ContainsFunc(t.Axes, func(a s.Axis) bool { return a.Extent == e })
		})
	}
	free := s.Extents()[slices.IndexFunc(s.Extents(), func(e s.Extent) bool { return !used(e) })]
	for _, t := range f.Tensors {
		for j := range t.Axes {
			if t.Axes[j].Extent == s.W {
				t.Axes[j].Extent = free
			}
		}
	}
	return f.one()
}

// behindLinear puts a row-parallel linear before the schedule, as the layer before has it.
func behindLinear(_ *testing.T, f found) []s.Schedule {
	name := f.matched[1]
	a, _ := f.Tensor(name)
	f.Tensors = slices.DeleteFunc(f.Tensors, func(t s.Tensor) bool { return t.Name == name })
	f.Tensors = append(f.Tensors, hd("Before", a.Axes[0].Extent, "4096"), row("Weight", a.Axes[1].Extent, "4096"))
	f.Ops = slices.Insert(f.Ops, 0, s.Linear(name, "Before", "Weight"))
	return f.one()
}

func rePlaced(_ *testing.T, f found) []s.Schedule {
	place(f.Tensors, f.path, f.hint)
	return f.one()
}

func otherWay(_ *testing.T, f found) []s.Schedule {
	var i int
	fmt.Sscanf(f.path, "Moves[%d]", &i)
	for _, word := range regexp.MustCompile(`[A-Z]\w+`).FindAllString(f.hint, -1) {
		at := slices.IndexFunc(s.Ways(), func(w s.Way) bool { return s.WayName(w) == word })
		if at >= 0 {
			f.Moves[i].Way = s.Ways()[at]
			break
		}
	}
	return f.one()
}

func unmoved(_ *testing.T, f found) []s.Schedule {
	var i int
	fmt.Sscanf(f.path, "Moves[%d]", &i)
	f.Moves = slices.Delete(f.Moves, i, i+1)
	return f.one()
}

// tidy leaves out the tensors that no operation names, and moves of tensors that are not there.
func tidy(x s.Schedule) s.Schedule {
	named := func(name string) bool {
		return slices.ContainsFunc(x.Ops, func(o s.Op) bool {
			return o.Out == name || slices.Contains(o.In, name) || slices.ContainsFunc(o.Then, func(f s.Func) bool {
				return slices.Contains(f.Reads(), name)
			})
		})
	}
	x.Tensors = slices.DeleteFunc(slices.Clone(x.Tensors), func(t s.Tensor) bool { return !named(t.Name) })
	x.Moves = slices.DeleteFunc(slices.Clone(x.Moves), func(m s.Move) bool { return !named(m.Of) })
	return x
}

// declaredAll declares the tensors that have to be: with placements that are accepted, else with the first.
func declaredAll(t *testing.T, x s.Schedule) s.Schedule {
	missing := regexp.MustCompile(`(?:reads|makes) (\w+), which nothing declares`)
	for _, e := range s.FieldErrors(x.Validate()) {
		m := missing.FindStringSubmatch(e.Msg)
		if m == nil {
			continue
		}
		rows, columns := extentsOf(x, m[1])
		var first s.Schedule
		for i, axes := range [][]s.Axis{
			{s.Dim(rows), s.Dim(columns, X)}, {s.Dim(rows, X), s.Dim(columns)}, {s.Dim(rows), s.Dim(columns)},
			{s.Dim(rows, s.Stream(D)), s.Dim(columns, X)}, {s.Dim(rows, s.Stream(D)), s.Dim(columns)},
		} {
			y := scheduletest.Clone(x)
			y.Tensors = append(y.Tensors, s.Tensor{Name: m[1], Axes: axes})
			y = declaredAll(t, y)
			if accepts(t, y) == nil {
				return y
			}
			if i == 0 {
				first = y
			}
		}
		return first
	}
	return x
}

// extentsOf are the extents of the rows and columns of a tensor that is not declared, by the letters that operations
// give it.
func extentsOf(x s.Schedule, name string) (rows, columns s.Extent) {
	rows, columns = M, K
	for range x.Ops { // each time through more are known
		for _, o := range x.Ops {
			c, err := x.Contraction(o)
			if err != nil {
				continue
			}
			letters := map[string]string{o.Out: c.Out, o.Added(): c.Out}
			for i, in := range o.In {
				letters[in] = c.In[i]
			}
			for other, text := range letters {
				t, declared := x.Tensor(other)
				mine := letters[name]
				if !declared || other == name || len(mine) != 2 || len(t.Axes) != len(text) {
					continue
				}
				if i := strings.IndexByte(text, mine[0]); i >= 0 {
					rows = t.Axes[i].Extent
				}
				if i := strings.IndexByte(text, mine[1]); i >= 0 {
					columns = t.Axes[i].Extent
				}
			}
		}
	}
	return rows, columns
}

func stated(_ *testing.T, f found) []s.Schedule {
	if f.Multiples == nil {
		f.Multiples = map[s.Extent]string{}
	}
	f.Multiples[s.Extent(f.matched[1])] = f.matched[2]
	return f.one()
}
