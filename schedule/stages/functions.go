package stages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// functions refuses a function that nothing applies at its place, and an operand of another placement.
func (c *inference) functions(o schedule.Op) error {
	from := c.Schedule.MadeFrom(o)
	for i, f := range o.Then {
		at := fmt.Sprintf("%s.Then[%d]", c.path, i)
		if elements := c.manyAxes(o.Out) && c.Uneven(o.Out); i >= from && f.Is.InRow() && elements {
			return refused(at, c.elsewhere(o, i, c.At[o.Out]),
				"parts of %s are by counts of elements, and %s takes whole rows", o.Out, f.Name())
		}
		if i >= from && f.Is.InRow() && c.At[o.Out].Columns() && !c.Schedule.InParts(o.Out) {
			return refused(at, c.elsewhere(o, i, c.At[o.Out]), // else a rank's part is a row
				"each rank has a part of each row of %s, and %s takes whole rows", o.Out, f.Name())
		}
		if err := oneKernel(at, o, from, i); err != nil {
			return err
		}
		for _, operand := range f.Operands() {
			if f.Joins {
				continue // each rank has it
			}
			err := c.beside(f.PathOf(at, operand.Tensor), o, operand)
			for _, e := range schedule.FieldErrors(err) {
				if i >= from && !strings.HasPrefix(e.Path, at) {
					made := c.asked(o)
					e.Msg += ", beside " + schedule.Op{Out: made.Out, In: made.In, Index: made.Index}.String()
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// oneKernel refuses a function that no kernel makes together with those before it, which are not rounded.
func oneKernel(path string, o schedule.Op, from, last int) error {
	var trees []schedule.Expr
	var names []string
	for i := from; i <= last; i++ {
		trees, names = append(trees, o.Then[i].Is), append(names, o.Then[i].Name())
	}
	_, wrong := schedule.GroupOf(schedule.Nodes(trees...))
	switch {
	case wrong == "":
		return nil
	case last == from:
		return refused(path, "write it as several functions, and apply each in a schedule.Copy of its own",
			"no kernel makes %s: %s", names[0], wrong)
	}
	return refused(path, fmt.Sprintf("apply %s in a schedule.Copy of what comes before it, which is rounded",
		names[len(names)-1]), "no kernel makes %s: %s", strings.Join(names, " and then "), wrong)
}

// beside checks that an operand of a function lies where the result's elements are.
func (c *inference) beside(path string, o schedule.Op, x schedule.Operand) error {
	at := c.At[o.Out]
	made := c.Schedule.Made(x.Tensor)
	_, scales := c.Schedule.ScaledBy(x.Tensor)
	switch {
	case scales:
		return nil // they lie and travel as their rows do
	case c.manyAxes(o.Out):
		return c.besideAxes(path, o, x)
	case made && x.Lies == schedule.InPlace:
		return c.besideMade(path, o, x.Tensor)
	case made:
		return c.besidePart(path, o, x)
	case x.Lies == schedule.ByHead:
		at = edges.State{}
	case c.rereads(x, o.Out) && at.Batches != "":
		return rowOfBatches(path, x.Tensor, o.Out, at.Batches)
	case x.Lies == schedule.OfTable:
		at = rowsOf(at)
	case x.Lies == schedule.ByRow && !c.hasRows(x.Tensor, o.Out, rowsOf(at)):
		return c.MisplacedIn(x.Tensor, rowsOf(at), "%s is %s, and the operations %s it otherwise: %s", x.Tensor,
			c.written(c.Tensor(x.Tensor)), c.leaveOrTake(x.Tensor), c.asked(o))
	case x.Lies == schedule.ByRow:
		return nil
	}
	return c.placed(x.Tensor, at, false)
}

// hasRows says that a tensor with a number for each row of a result has them where these are, in the same parts.
func (c *Chain) hasRows(name, result string, at edges.State) bool {
	t, of := c.Tensor(name), c.Tensor(result)
	asMade := len(of.Axes) > 0 && slices.Equal(t.Axes[0].Outer, of.Axes[0].Outer) // in steps, too
	return edges.Of(t) == at && (at.Size != edges.Even || asMade || alike(t, cutAs(t, at)))
}

// besidePart checks that a result of an operation lies as its operand does that is not in place: on each rank it has
// the rank's rows or columns of the result, or all of a head.
func (c *inference) besidePart(path string, o schedule.Op, x schedule.Operand) error {
	at, which := rowsOf(c.At[o.Out]), "rows"
	switch {
	case x.Lies == schedule.ByHead:
		at, which = edges.State{}, ""
	case x.Lies == schedule.ByColumn:
		if at, which = c.At[o.Out], "columns"; !at.Columns() {
			at = edges.State{}
		}
	}
	maker, _ := c.Schedule.Maker(x.Tensor)
	switch {
	case maker.Call != "" && x.Lies != schedule.OfTable:
		return refused(path, "let functions make it", "no pass reads %s %s, which the call %s makes", x.Tensor, x.Lies,
			maker.Call)
	case c.At[x.Tensor] == at:
		return nil
	case which == "":
		return refused(path, "place it whole", "each rank reads all of %s, and has a part of it", x.Tensor)
	}
	return refused(path, "declare both with the same placement", "%s and %s have their %s on different ranks", x.Tensor,
		o.Out, which)
}

// besideMade checks that a result lies as its operand in place does, which another operation makes.
func (c *inference) besideMade(path string, o schedule.Op, name string) error {
	out, x, which := c.At[o.Out], c.At[name], "rows"
	if out.Rows() == x.Rows() && out.Columns() == x.Columns() && out.Shift == x.Shift {
		return nil
	} else if c.widened(name) {
		return c.behindColumns(path, name, o.Out)
	} else if out.Columns() != x.Columns() && out.Rows() == x.Rows() {
		which = "columns"
	}
	if _, declared := c.Schedule.Tensor(name); !declared {
		if err := c.placed(o.Out, x, false); err != nil {
			return err
		}
	}
	return refused(path, "declare both with the same placement", "%s and %s have their %s on different ranks", name,
		o.Out, which)
}

// besideAxes refuses an operand of a function of such a result that does not lie where the result's elements are.
func (c *Chain) besideAxes(path string, o schedule.Op, x schedule.Operand) error {
	t, out := c.Tensor(x.Tensor), c.Tensor(o.Out)
	columns := len(out.Axes) - 1
	beside := map[schedule.Lies][]schedule.Axis{schedule.InPlace: out.Axes, schedule.ByColumn: out.Axes[columns:],
		schedule.ByRow: out.Axes[:columns]}[x.Lies]
	switch {
	case c.Uneven(o.Out) && x.Lies != schedule.InPlace:
		return refused(path, c.endBefore(o, 0), "parts of %s are by counts of elements, and have no columns for %s",
			o.Out, x.Tensor)
	case x.Lies == schedule.OfTable:
		return refused(path, c.endBefore(o, 0), "no kernel reads the rows of %s again for each index of the first axis",
			x.Tensor)
	case t.Root || !lieAlike(t.Axes, beside):
		want := cutAs(t, edges.State{})
		for i := range min(len(want.Axes), len(beside)) {
			want.Axes[i].Outer = beside[i].Outer
		}
		return c.Misplaced(t.Name, "place it "+written(want), "%s is %s, and the operations %s it otherwise: %s",
			t.Name, written(t), c.leaveOrTake(t.Name), c.asked(o))
	}
	return nil
}

// Trees are functions as trees, and their words.
func (c *Chain) Trees(functions []schedule.Func) (list []schedule.Expr, word string) {
	var words []string
	for _, f := range functions {
		list, words = append(list, c.Original.Tree(f)), append(words, f.Name())
	}
	return list, strings.Join(words, " and ")
}

// TurnsPairs says that a function makes pairs of columns of each other.
func (c *Chain) TurnsPairs(f schedule.Func) bool {
	return slices.ContainsFunc(schedule.Nodes(c.Original.Tree(f)), func(n schedule.Node) bool {
		return n.Do == schedule.DoTurn || n.Do == schedule.DoPairs
	})
}

// headOfProofs is how many columns a head has in proofs where the shape says how many.
const headOfProofs = 4

// headsFit refuses functions of an odd number of columns, of which one has no partner, and of heads that proofs can't
// have of a constant number.
func (c *Chain) headsFit() error {
	for i, o := range c.Schedule.Ops {
		n, err := strconv.Atoi(string(c.ColumnsOf(o.Out).Extent))
		for j, f := range o.Then {
			widths, path := schedule.Heads(schedule.Nodes(c.Original.Tree(f))), fmt.Sprintf("Ops[%d].Then[%d]", i, j)
			switch {
			case err != nil: // the shape says
			case n%2 > 0 && c.TurnsPairs(f):
				return refused(path, "leave it out, or let the columns be even",
					"%s turns pairs of columns, and there are %d", f.Name(), n)
			case n%headOfProofs > 0 && slices.Contains(widths, schedule.W):
				return refused(path, "write how many columns a head has as a constant",
					"the proof has heads of %d columns where they are W, and there are %d", headOfProofs, n)
			}
		}
	}
	return nil
}
