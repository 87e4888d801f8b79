package lower

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// Formulas are made by a kernel of their own: behind a product, which ends with its bias and one function that the
// library applies, behind a sum of partial results, which ends with local formulas, behind what travels to an
// operation, and behind a gradient. Behind all but products they are of an operation of their own.

// sumOnly is a sum, what travels, or a gradient, whose other functions are of an operation of their own.
type sumOnly struct {
	sum  string // the tensor between them
	ends int    // the functions that belong to the sum
}

// formulas gives functions that formulas make together no names, and those behind all but products operations of their
// own. What comes otherwise than all rows from their owners, by an exchange, a broadcast, a permutation, or a gather of
// columns, has memory of another name.
func formulas(d *draft) error {
	list, err := edges.All(d.original)
	if err != nil {
		list = nil // the stages say why
	}
	var ops []schedule.Op
	d.origins, d.sumsOnly, d.schedule = nil, map[string]sumOnly{}, d.schedule.Joined()
	for i, o := range d.schedule.Ops {
		from := d.original.MadeFrom(o)
		o.Then = slices.Clone(o.Then)
		for j, f := range o.Then[from:] {
			o.Then[from+j] = schedule.Func{Word: f.Name(), Is: d.original.Tree(f)}
		}
		apart, between := false, hostir.GatheredSuffix
		wide := multiplies(o) && !d.original.Partial(o) && d.tensor(o.Out).Type == schedule.FP32
		for _, e := range list {
			if wide && e.Of == o.Out {
				return refused(d.pathOf(o.Out)+".Type", "leave it out",
					"no pass moves a tensor of fp32, such as %s, in plans of other types", o.Out)
			}
			if e.User >= 0 && d.original.Ops[e.User].Out == o.Out && kind(o.Name()) == copied {
				apart = true
				if e.Kind != edges.AllGather || e.From.Columns() {
					between = movedSuffix
				}
			}
		}
		apart = apart && !d.tensor(o.Out).InSteps() && (between == movedSuffix || !d.comesByRanks(o))
		if d.original.Partial(o) {
			apart, between = true, "sum"
		} else if wide { // the product is rounded to the plan's type
			apart, between = true, "product"
		} else if kind(o.Name()) == gradient {
			apart, between = true, movedSuffix
		}
		if apart = apart && from < len(o.Then); apart {
			sum := o
			for sum.Out += between; d.known(sum.Out); {
				sum.Out += "s"
			}
			d.sumsOnly[o.Out] = sumOnly{sum.Out, from}
			sum.Then = o.Then[:from:from]
			if between != hostir.GatheredSuffix || d.manyAxes(o.Out) {
				d.comesFirst(o, sum.Out)
			}
			ops, d.origins = append(ops, sum), append(d.origins, hostir.Function{Op: i})
			o = schedule.Copy(o.Out, sum.Out, o.Then[from:]...)
		} else {
			from = 0
		}
		ops, d.origins = append(ops, o), append(d.origins, hostir.Function{Op: i, Then: from})
	}
	d.schedule.Ops = ops
	return nil
}

// movedSuffix ends the name of memory in which a result comes.
const movedSuffix = "moved"

// comesFirst declares the memory in which an operation has its result without functions, as that is declared. The
// stages know where sums are that are of equal parts of their rows, or all of them.
func (d *draft) comesFirst(o schedule.Op, name string) {
	t, declared := d.schedule.Tensor(o.Out)
	at := edges.Of(t)
	asUsual := d.original.Partial(o) && !d.manyAxes(o.Out) && (at == edges.State{} || at == edges.Along(0))
	if !declared || asUsual {
		return
	}
	t.Name, t.Type, t.Scale, t.Within = name, "", "", ""
	if from := d.tensor(o.In[0]); kind(o.Name()) == copied {
		t.Type, t.Scale = from.Type, from.Scale
	}
	d.schedule.Tensors = append(slices.Clone(d.schedule.Tensors), t)
}

// comesByRanks says that uneven rows come one rank's after another's, and that functions of them, which no product
// reads, are made as they come.
func (d *draft) comesByRanks(o schedule.Op) bool {
	name, way := o.In[0], Default(gatherBalanced)
	for _, m := range d.original.Moves {
		if m.Of == name && m.Way != nil {
			way = m.Way
		}
	}
	return d.uneven(name) && !ofProducts(d.schedule, o.Out) && leg{need: gatherBalanced}.doneBy(way)
}

// word is a name in a text.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

// tensorPath is the path of a tensor.
var tensorPath = regexp.MustCompile(`^Tensors\[\d+\]`)

// opsPath is the path of an operation, and of one of its functions.
var opsPath = regexp.MustCompile(`^Ops\[(\d+)\](?:\.Then\[(\d+)\])?`)

// asDeclared is an error with the path of the operation that was declared, and the name of its result for its sum's.
func (d *draft) asDeclared(err error) error {
	for _, e := range schedule.FieldErrors(err) {
		e.Path = tensorPath.ReplaceAllStringFunc(e.Path, func(path string) string {
			i, _ := strconv.Atoi(path[len("Tensors[") : len(path)-1]) // digits
			if i < len(d.original.Tensors) {
				return path
			}
			name := d.schedule.Tensors[i].Name
			if declared := d.declaredAs(name); declared != name {
				return d.pathOf(declared)
			} // else an operation makes it in memory of the plan
			return fmt.Sprintf("Ops[%d]", d.indexOf(schedule.Op{Out: name}))
		})
		e.Msg, e.Hint = word.ReplaceAllStringFunc(e.Msg, d.declaredAs), word.ReplaceAllStringFunc(e.Hint, d.declaredAs)
		m := opsPath.FindStringSubmatch(e.Path)
		if m == nil {
			continue
		}
		i, _ := strconv.Atoi(m[1]) // digits
		if i >= len(d.origins) {
			continue
		}
		path := fmt.Sprintf("Ops[%d]", d.origins[i].Op)
		if j, err := strconv.Atoi(m[2]); err == nil {
			path += fmt.Sprintf(".Then[%d]", d.origins[i].Then+j)
		}
		e.Path = path + e.Path[len(m[0]):]
	}
	return err
}

// asked returns the declared operation of which lowering made o, or o itself where it is declared by no other.
func (d *draft) asked(o schedule.Op) schedule.Op {
	if own, made := d.original.Maker(o.Out); made {
		return own
	}
	return o
}

// declaredAs is the result that was declared, of the name of its sum or gather.
func (d *draft) declaredAs(name string) string {
	for out, x := range d.sumsOnly {
		if x.sum == name {
			return out
		}
	}
	return name
}

// known says that a tensor of the schedule has a name.
func (d *draft) known(name string) bool {
	_, declared := d.original.Tensor(name)
	return declared || d.original.Made(name)
}

// functions refuses a function that nothing applies at its place, and an operand of another placement.
func (c *chain) functions(d *draft, path string, o schedule.Op, s *stage) error {
	from := d.schedule.MadeFrom(o)
	for i, f := range o.Then {
		at := fmt.Sprintf("%s.Then[%d]", path, i)
		if elements := d.manyAxes(o.Out) && d.uneven(o.Out); i >= from && f.Is.InRow() && elements {
			return refused(at, d.elsewhere(o, i, c.at[o.Out]),
				"parts of %s are by counts of elements, and %s takes whole rows", o.Out, f.Name())
		}
		if i >= from && f.Is.InRow() && c.at[o.Out].Columns() && !d.schedule.InParts(o.Out) {
			return refused(at, d.elsewhere(o, i, c.at[o.Out]), // else a rank's part is a row
				"each rank has a part of each row of %s, and %s takes whole rows", o.Out, f.Name())
		}
		if err := oneKernel(at, o, from, i); err != nil {
			return err
		}
		for _, operand := range f.Operands() {
			if f.Joins {
				continue // each rank has it
			}
			err := c.beside(d, f.PathOf(at, operand.Tensor), o, operand)
			for _, e := range schedule.FieldErrors(err) {
				if i >= from && !strings.HasPrefix(e.Path, at) {
					made := d.asked(o)
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
func (c *chain) beside(d *draft, path string, o schedule.Op, x schedule.Operand) error {
	at := c.at[o.Out]
	made := d.schedule.Made(x.Tensor)
	_, scales := d.schedule.ScaledBy(x.Tensor)
	switch {
	case scales:
		return nil // they lie and travel as their rows do
	case d.manyAxes(o.Out):
		return d.besideAxes(path, o, x)
	case made && x.Lies == schedule.InPlace:
		return c.besideMade(d, path, o, x.Tensor)
	case made:
		return c.besidePart(d, path, o, x)
	case x.Lies == schedule.ByHead:
		at = edges.State{}
	case x.Lies == schedule.OfTable && at.Batches != "":
		return rowOfBatches(path, x.Tensor, o.Out, at.Batches)
	case x.Lies == schedule.OfTable:
		at = rowsOf(at)
	case x.Lies == schedule.ByRow && edges.Of(d.tensor(x.Tensor)) != rowsOf(at):
		return d.misplacedIn(x.Tensor, rowsOf(at), "%s is %s, and the operations leave it otherwise: %s", x.Tensor,
			d.written(d.tensor(x.Tensor)), d.asked(o))
	case x.Lies == schedule.ByRow:
		return nil
	}
	return c.placed(d, x.Tensor, at, false)
}

// besidePart checks that a result of an operation lies as its operand does that is not in place: on each rank it has
// the rank's rows or columns of the result, or all of a head.
func (c *chain) besidePart(d *draft, path string, o schedule.Op, x schedule.Operand) error {
	at, which := rowsOf(c.at[o.Out]), "rows"
	switch {
	case x.Lies == schedule.ByHead:
		at, which = edges.State{}, ""
	case x.Lies == schedule.ByColumn:
		if at, which = c.at[o.Out], "columns"; !at.Columns() {
			at = edges.State{}
		}
	}
	maker, _ := d.schedule.Maker(x.Tensor)
	switch {
	case maker.Call != "" && x.Lies != schedule.OfTable:
		return refused(path, "let functions make it", "no pass reads %s %s, which the call %s makes", x.Tensor, x.Lies,
			maker.Call)
	case c.at[x.Tensor] == at:
		return nil
	case which == "":
		return refused(path, "place it whole", "each rank reads all of %s, and has a part of it", x.Tensor)
	}
	return refused(path, "declare both with the same placement", "%s and %s have their %s on different ranks", x.Tensor,
		o.Out, which)
}

// besideMade checks that a result lies as its operand in place does, which another operation makes.
func (c *chain) besideMade(d *draft, path string, o schedule.Op, name string) error {
	out, x, which := c.at[o.Out], c.at[name], "rows"
	if out.Rows() == x.Rows() && out.Columns() == x.Columns() && out.Shift == x.Shift {
		return nil
	} else if c.widened(name) {
		return d.behindColumns(path, name, o.Out)
	} else if out.Columns() != x.Columns() && out.Rows() == x.Rows() {
		which = "columns"
	}
	if _, declared := d.schedule.Tensor(name); !declared {
		if err := c.placed(d, o.Out, x, false); err != nil {
			return err
		}
	}
	return refused(path, "declare both with the same placement", "%s and %s have their %s on different ranks", name,
		o.Out, which)
}

// make is what the formulas behind an operation make of x, on a piece of the rows, if there are any.
func (w *writer) make(on hostir.StreamRef, o schedule.Op, p piece, x hostir.View) []hostir.Node {
	own := w.schedule.Own(o)
	if len(own) == 0 {
		return nil
	}
	list, word := w.trees(own)
	var operands []hostir.View
	for _, x := range schedule.Operands(schedule.Nodes(list...)) {
		if x.Lies == schedule.ByColumn || x.Lies == schedule.ByHead {
			operands = append(operands, hostir.Whole(x.Tensor))
		} else {
			operands = append(operands, w.at(x.Tensor, p))
		}
	}
	return []hostir.Node{hostir.MakeOf(on, word, list, w.columns(o), w.at(o.Out, p), x, operands...).
		Applying(w.functionsOf(o, true))}
}

// functionsOf lists the functions of an operation that its own kernel makes, if own, or else the functions that the
// product or sum before them applies to its result.
func (d *draft) functionsOf(of schedule.Op, own bool) (list []hostir.Function) {
	for i, o := range d.original.Ops {
		for j, f := range o.Then {
			made := o.Out
			if sum, ok := d.sumsOnly[o.Out]; ok && j < sum.ends {
				made = sum.sum
			}
			if made == of.Out && !d.addsTerm(f) {
				list = append(list, hostir.Function{Op: i, Then: j})
			}
		}
	}
	n := max(len(list)-len(d.schedule.Own(of)), 0)
	if own {
		return list[n:]
	}
	return list[:n]
}
