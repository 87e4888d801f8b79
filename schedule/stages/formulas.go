package stages

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Formulas are made by a kernel of their own: behind a product, which ends with its bias and one function that the
// library applies, behind a sum of partial results, which ends with local formulas, behind what travels to an
// operation, and behind a gradient. Behind all but products they are of an operation of their own.

// sumOnly is a sum, what travels, or a gradient, whose other functions are of an operation of their own.
type sumOnly struct {
	sum  string // the tensor between them
	ends int    // the functions that belong to the sum
}

// origin is where the declared schedule has an operation, and its first function.
type origin struct{ op, then int }

// formulas gives functions that formulas make together no names, and those behind all but products operations of their
// own. What comes otherwise than all rows from their owners, by an exchange, a broadcast, a permutation, or a gather of
// columns, has memory of another name.
func (c *Chain) formulas(byRanks func(schedule.Way) bool) error {
	list, err := edges.All(c.Original)
	if err != nil {
		list = nil // the stages say why
	}
	var ops []schedule.Op
	c.sumsOnly, c.Schedule = map[string]sumOnly{}, c.Schedule.Joined()
	for i, o := range c.Schedule.Ops {
		from := c.Original.MadeFrom(o)
		o.Then = slices.Clone(o.Then)
		for j, f := range o.Then[from:] {
			o.Then[from+j] = schedule.Func{Word: f.Name(), Is: c.Original.Tree(f)}
		}
		apart, between := false, gatheredSuffix
		wide := o.Multiplies() && !c.Original.Partial(o) && c.Tensor(o.Out).Type == schedule.FP32
		for _, e := range list {
			if wide && e.Of == o.Out {
				return refused(c.PathOf(o.Out)+".Type", "leave it out",
					"no pass moves a tensor of fp32, such as %s, in plans of other types", o.Out)
			}
			if e.User >= 0 && c.Original.Ops[e.User].Out == o.Out && o.Name() == schedule.CopyWord {
				apart = true
				if e.Kind != edges.AllGather || e.From.Columns() {
					between = movedSuffix
				}
			}
		}
		apart = apart && !c.Tensor(o.Out).InSteps() && (between == movedSuffix || !c.comesByRanks(o, byRanks))
		if c.Original.Partial(o) {
			apart, between = true, "sum"
		} else if wide { // the product is rounded to the plan's type
			apart, between = true, "product"
		} else if o.Name() == schedule.GradientWord {
			apart, between = true, movedSuffix
		}
		if apart = apart && from < len(o.Then); apart {
			sum := o
			for sum.Out += between; c.known(sum.Out); {
				sum.Out += "s"
			}
			c.sumsOnly[o.Out] = sumOnly{sum.Out, from}
			sum.Then = o.Then[:from:from]
			if between != gatheredSuffix || c.manyAxes(o.Out) {
				c.comesFirst(o, sum.Out)
			}
			ops, c.origins = append(ops, sum), append(c.origins, origin{op: i})
			o = schedule.Copy(o.Out, sum.Out, o.Then[from:]...)
		} else {
			from = 0
		}
		ops, c.origins = append(ops, o), append(c.origins, origin{i, from})
	}
	c.Schedule.Ops = ops
	return nil
}

// Ends of the names of results that travel before functions are made of them: rows for all ranks, and all else.
const (
	gatheredSuffix = "gathered"
	movedSuffix    = "moved"
)

// comesFirst declares the memory in which an operation has its result without functions, as that is declared. The
// stages know where sums are that are of equal parts of their rows, or all of them.
func (c *Chain) comesFirst(o schedule.Op, name string) {
	t, declared := c.Schedule.Tensor(o.Out)
	at := edges.Of(t)
	asUsual := c.Original.Partial(o) && !c.manyAxes(o.Out) && (at == edges.State{} || at == edges.Along(0))
	if !declared || asUsual {
		return
	}
	t.Name, t.Type, t.Scale, t.Within = name, "", "", ""
	if from := c.Tensor(o.In[0]); o.Name() == schedule.CopyWord {
		t.Type, t.Scale = from.Type, from.Scale
	}
	c.Schedule.Tensors = append(slices.Clone(c.Schedule.Tensors), t)
}

// comesByRanks says that uneven rows come one rank's after another's, and that functions of them, which no product
// reads, are made as they come.
func (c *Chain) comesByRanks(o schedule.Op, byRanks func(schedule.Way) bool) bool {
	return c.Uneven(o.In[0]) && !ofProducts(c.Schedule, o.Out) &&
		!slices.ContainsFunc(c.Original.Moves, func(m schedule.Move) bool {
			return m.Of == o.In[0] && m.Way != nil && !byRanks(m.Way)
		})
}

// word is a name in a text.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

// tensorPath is the path of a tensor.
var tensorPath = regexp.MustCompile(`^Tensors\[\d+\]`)

// opsPath is the path of an operation, and of one of its functions.
var opsPath = regexp.MustCompile(`^Ops\[(\d+)\](?:\.Then\[(\d+)\])?`)

// AsDeclared is an error with the path of the operation that was declared, and the name of its result for its sum's.
func (c *Chain) AsDeclared(err error) error {
	for _, e := range schedule.FieldErrors(err) {
		e.Path = tensorPath.ReplaceAllStringFunc(e.Path, func(path string) string {
			i, _ := strconv.Atoi(path[len("Tensors[") : len(path)-1]) // digits
			if i < len(c.Original.Tensors) {
				return path
			}
			name := c.Schedule.Tensors[i].Name
			if declared := c.DeclaredAs(name); declared != name {
				return c.PathOf(declared)
			} // else an operation makes it in memory of the plan
			return fmt.Sprintf("Ops[%d]", c.indexOf(schedule.Op{Out: name}))
		})
		e.Msg, e.Hint = word.ReplaceAllStringFunc(e.Msg, c.DeclaredAs), word.ReplaceAllStringFunc(e.Hint, c.DeclaredAs)
		m := opsPath.FindStringSubmatch(e.Path)
		if m == nil {
			continue
		}
		i, _ := strconv.Atoi(m[1]) // digits
		if i >= len(c.origins) {
			continue
		}
		path := fmt.Sprintf("Ops[%d]", c.origins[i].op)
		if j, err := strconv.Atoi(m[2]); err == nil {
			path += fmt.Sprintf(".Then[%d]", c.origins[i].then+j)
		}
		e.Path = path + e.Path[len(m[0]):]
	}
	return err
}

// Origin is where the declared schedule has function j of an operation: Ops[op].Then[then].
func (c *Chain) Origin(o schedule.Op, j int) (op, then int) {
	at := c.origins[c.indexOf(o)]
	return at.op, at.then + j
}

// asked returns the declared operation of which lowering made o, or o itself where it is declared by no other.
func (c *Chain) asked(o schedule.Op) schedule.Op {
	if own, made := c.Original.Maker(o.Out); made {
		return own
	}
	return o
}

// DeclaredAs is the result that was declared, of the name of its sum or gather.
func (c *Chain) DeclaredAs(name string) string {
	for out, x := range c.sumsOnly {
		if x.sum == name {
			return out
		}
	}
	return name
}

// ProductTexts are the products among operations, as they are declared.
func (c *Chain) ProductTexts(ops []schedule.Op) (list []string) {
	for _, o := range ops {
		if declared, _ := c.Original.Maker(c.DeclaredAs(o.Out)); len(o.In) == 2 {
			list = append(list, declared.String())
		}
	}
	return list
}

// known says that a tensor of the schedule has a name.
func (c *Chain) known(name string) bool {
	_, declared := c.Original.Tensor(name)
	return declared || c.Original.Made(name)
}
