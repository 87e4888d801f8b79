package lower

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// A kernel of its own makes functions of the last result behind all else, in that result's memory, where nothing
// applies them as it comes: behind an exchange or a broadcast, a gradient, or batches that travel.

// last are the functions of the last operation that are made behind all else.
type last struct {
	op   schedule.Op // with all its functions
	from int         // the first of them; as many as there are: none is made there
	// reached says that the program is whole but for them.
	reached bool
	within  []schedule.Tensor // all tensors, with what lies within the result
}

// own are the functions.
func (x last) own() []schedule.Func { return x.op.Then[min(x.from, len(x.op.Then)):] }

// reads says that a function reads a tensor.
func (x last) reads(tensor string) bool {
	return slices.ContainsFunc(x.own(), func(f schedule.Func) bool { return slices.Contains(f.Reads(), tensor) })
}

// lastApart takes from a draft the functions of its last operation that a kernel of their own makes. ok: it has some,
// of a result that lies where they can be made.
func (d *draft) lastApart() (ok bool) {
	n := len(d.schedule.Ops) - 1
	o := d.schedule.Ops[n]
	t, declared := d.schedule.Tensor(o.Out)
	d.last = last{op: o, from: d.schedule.MadeFrom(d.schedule.Joined().Ops[n])}
	if len(d.last.own()) == 0 || !declared || t.Type != "" || t.Scale != "" || t.Within != "" {
		return false
	}
	d.schedule.Ops = append(slices.Clone(d.schedule.Ops[:n]), d.schedule.With(o))
	d.last.within, d.schedule.Tensors = d.schedule.Tensors, slices.Clone(d.schedule.Tensors)
	for i := range d.schedule.Tensors {
		if x := &d.schedule.Tensors[i]; x.Within == o.Out && d.last.reads(x.Name) {
			x.Within = "" // what comes lies elsewhere
		}
	}
	d.original = d.schedule
	return true
}

// lastBeside refuses functions that no kernel makes of a rank's part of the result, and operands that lie elsewhere.
func (d *draft) lastBeside(out schedule.Tensor) error {
	columns := len(out.Axes) - 1
	_, _, spread := schedule.Tensor{Axes: out.Axes[columns:]}.Sharded()
	for i, f := range d.last.own() {
		path := fmt.Sprintf("Ops[%d].Then[%d]", len(d.original.Ops)-1, d.last.from+i)
		rows := inRow(d.original.Tree(f))
		if rows && spread {
			return ofPartOfRow(path, d.endBefore(d.last.op, d.last.from+i), out.Name, f)
		}
		if rows && out.Axes[0].Extent == schedule.D && d.uneven(out.Name) {
			return refused(path, d.endBefore(d.last.op, d.last.from+i),
				"parts of %s are by counts of elements, and %s takes whole rows", out.Name, f.Name())
		}
		if err := oneKernel(path, d.last.op, d.last.from, d.last.from+i); err != nil {
			return err
		}
		for _, x := range f.Operands() {
			if err := d.besideLast(path, x, out); err != nil {
				return err
			}
		}
		if err := d.heads(path, f, out.Axes[columns].Extent, spread); err != nil {
			return err
		}
	}
	return nil
}

// besideLast refuses an operand that does not lie where the last result's elements are.
func (d *draft) besideLast(path string, x schedule.Operand, out schedule.Tensor) error {
	t, declared := d.original.Tensor(x.Tensor)
	columns := len(out.Axes) - 1
	beside := map[schedule.Lies][]schedule.Axis{schedule.InPlace: out.Axes, schedule.ByColumn: out.Axes[columns:],
		schedule.ByRow: out.Axes[:columns], schedule.OfTable: out.Axes[:columns]}[x.Lies]
	switch {
	case !declared:
		return refused(path, d.endBefore(d.last.op, d.last.from), "no pass reads %s behind %s, which goes on", x.Tensor,
			out.Name)
	case x.Lies == schedule.OfTable && columns > 1:
		return refused(path, d.endBefore(d.last.op, d.last.from),
			"no kernel reads the rows of %s again for each index of the first axis", x.Tensor)
	case t.Root || !lieAlike(t.Axes, beside):
		want := t
		want.Axes, want.Root, want.Type = slices.Clone(t.Axes), false, ""
		for i := range want.Axes {
			if want.Axes[i].Outer = nil; i < len(beside) {
				want.Axes[i].Outer = beside[i].Outer
			}
		}
		return d.misplaced(t.Name, "place it "+written(want), "%s is %s, and the operations leave it otherwise: %s",
			t.Name, written(t), d.last.op)
	}
	return nil
}

// pathOf is the first field that an error refuses.
func pathOf(err error) string {
	for _, e := range schedule.FieldErrors(err) {
		return e.Path
	}
	return ""
}

// lieAlike says that a rank has the same places of the axes as of others that are as many or fewer; axes that no rank
// has a part of lie alike in whatever steps they are made.
func lieAlike(axes, others []schedule.Axis) bool {
	for i, a := range axes {
		x, y := ranksOf(a), []schedule.Split(nil)
		if i < len(others) {
			y = ranksOf(others[i])
		}
		if !slices.Equal(x, y) {
			return false
		}
	}
	return true
}

// ranksOf are the splits of an axis that say which parts of it a rank has.
func ranksOf(a schedule.Axis) []schedule.Split {
	if !slices.ContainsFunc(a.Outer, func(s schedule.Split) bool { return s.Kind == schedule.DeviceX }) {
		return nil
	}
	return a.Outer
}

// makeLast makes the functions that the program is without so far.
func makeLast(d *draft) error {
	if len(d.last.own()) == 0 {
		return nil
	}
	d.last.reached = true
	n := len(d.original.Ops) - 1
	d.original.Ops, d.original.Tensors = append(slices.Clone(d.original.Ops[:n]), d.last.op), d.last.within
	out, _ := d.original.Tensor(d.last.op.Out)
	if err := d.lastBeside(out); err != nil {
		return err
	}
	var list []schedule.Expr
	var words []string
	var functions []hostir.Function
	for i, f := range d.last.own() {
		list, words = append(list, d.original.Tree(f)), append(words, f.Name())
		functions = append(functions, hostir.Function{Op: n, Then: d.last.from + i})
	}
	x, err := d.asItComes(out.Name)
	if err != nil {
		return err
	}
	var operands []hostir.View
	for _, x := range schedule.Operands(schedule.Nodes(list...)) {
		operands = append(operands, d.besideAll(x, out.Name))
	}
	d.add(hostir.MakeOf(mainRef, strings.Join(words, " and "), list, columnsHere(out), d.all(out.Name), x,
		operands...).Applying(functions))
	return nil
}

// asItComes is the last result as it comes: where its functions are made, or in memory of the plan if it comes in parts
// of its columns, of which no kernel makes functions in place, or where an operand lies within the result.
func (d *draft) asItComes(out string) (hostir.View, error) {
	b := *d.buffer(out)
	o := d.last.op
	within := slices.ContainsFunc(d.original.Tensors, func(t schedule.Tensor) bool {
		return t.Within == out && d.last.reads(t.Name)
	})
	switch columns := !b.Rows.IsZero(); {
	case columns && kind(o.Name()) != copied, !b.Room.IsZero(), within && !b.Counts.IsZero():
		return hostir.View{}, refused(fmt.Sprintf("Ops[%d].Then[%d]", len(d.original.Ops)-1, d.last.from),
			d.endBefore(o, d.last.from), "no pass makes %s of parts of %s as they come", o.Then[d.last.from].Name(),
			out)
	case !columns && !within:
		return d.all(out), nil
	}
	name := out + movedSuffix
	for d.known(name) {
		name += "s"
	}
	d.program.Rename(map[string]string{out: name})
	for i, e := range d.program.Edges {
		if e.Steps == out {
			d.program.Edges[i].Steps = name
		}
	}
	moved := d.buffer(name)
	moved.Owner = hostir.Plan
	b.Chunk, b.Rows, b.Shared = chunk(b.Tensor), hostir.Expr{}, false
	d.program.Buffers = append(d.program.Buffers, b)
	return hostir.Whole(name), nil
}

// movedSuffix ends the name of memory in which a result comes.
const movedSuffix = "moved"

// besideAll is a rank's part of an operand of the last result's functions, which has as many rows.
func (d *draft) besideAll(x schedule.Operand, out string) hostir.View {
	if counts := d.buffer(out).Counts; !counts.IsZero() && x.Lies != schedule.ByColumn && x.Lies != schedule.ByHead {
		d.counted(x.Tensor, counts)
	}
	return d.all(x.Tensor)
}

// all is a rank's part of a tensor.
func (d *draft) all(name string) hostir.View {
	if b := d.buffer(name); !b.Counts.IsZero() && !b.Counts.Equal(hostir.Var(countRank)) {
		return hostir.Chunks(name, hostir.Const(0), hostir.Size)
	}
	return hostir.Whole(name)
}

// columnsHere is how many columns a rank has of each row.
func columnsHere(t schedule.Tensor) hostir.Expr {
	return hostir.Volume(schedule.Tensor{Axes: t.Axes[len(t.Axes)-1:]}, func(_ int, s schedule.Split) bool {
		return s.Kind == schedule.DeviceX
	})
}
