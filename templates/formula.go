package templates

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/schedule"
)

// Formula is a function in a kernel: trees, each of which is the X of the next one.
type Formula struct {
	Trees []schedule.Expr
	Types map[string]driver.Type // types of tensors, "" is X; 0: the plan's type
	// Width is the number of columns of a head of a tensor that knows heads: a table, or a row of a head.
	Width  func(tensor string) schedule.Extent
	Result driver.Type // type of its result; 0: the plan's type
	Scales driver.Type // type of the scales of rows that the last tree leaves; 0: it leaves none
	Then   []Formula   // further formulas of rows, each applied to the result of the one before it
}

// written is a formula by its nodes, with a name for each operand.
type written struct {
	Formula
	nodes    []schedule.Node
	operands []schedule.Operand // besides X
	heads    []schedule.Extent
	params   []string
	turns    schedule.Do // DoTurn or DoPairs, if one of its nodes is that
	group    int         // as in kernels.Made
	groups   bool        // the formula is of rows or of heads
	behind   *Code       // the formula that makes X, in the same kernel
}

// Kernel is the kernel of a formula, with its code. It returns an error where no kernel computes the formula: an
// element may need its row, or a head of one width.
func (f Formula) Kernel() (kernels.Kernel, *Code, error) {
	w, err := f.write()
	if err != nil {
		return kernels.Kernel{}, nil, err
	}
	k := kernels.Kernel{Kind: kernels.Elements}
	if w.groups {
		k.Kind = kernels.Groups
	}
	made, code := w.made(), w.code()
	for last := code; len(f.Then) > 0; f.Then = f.Then[1:] {
		then, err := f.Then[0].write()
		if err == nil && !(w.ofRows() && w.Result == 0 && then.ofRows()) {
			err = fmt.Errorf("write %s, then %s: one is not of rows of the plan's type", w, then)
		}
		if err != nil {
			return kernels.Kernel{}, nil, err
		}
		w, then.behind = then, last
		made.Then, last = append(made.Then, then.made()), then.code()
		code.goOn(last)
	}
	made.Numbers = len(code.Numbers)
	k.Made = &made
	return k, code, nil
}

// ofRows reports whether the formula is of whole rows of the plan's type.
func (w *written) ofRows() bool {
	return w.groups && len(w.heads) == 0 &&
		!slices.ContainsFunc(slices.Collect(maps.Values(w.Types)), func(t driver.Type) bool { return t != 0 })
}

// made describes the result of the formula and its operands.
func (w *written) made() kernels.Made {
	made := kernels.Made{Key: schedule.Key(w.nodes), Heads: len(w.heads), Group: w.group, Turns: w.turns != "",
		Numbers: len(w.params), Type: w.Result, Scales: w.Scales, X: kernels.Operand{Type: w.Types[""]}}
	for _, o := range w.operands {
		made.Operands = append(made.Operands, kernels.Operand{Lies: lies[o.Lies], Head: w.headOf(o),
			Type: w.Types[o.Tensor]})
	}
	return made
}

// lies maps the ways in which operands lie to the names of package kernels.
var lies = map[schedule.Lies]kernels.Lies{schedule.InPlace: kernels.InPlace, schedule.ByColumn: kernels.ByColumn,
	schedule.ByRow: kernels.ByRow, schedule.ByHead: kernels.ByHead, schedule.OfTable: kernels.OfTable}

// write lists the nodes with the widths of all heads.
func (f Formula) write() (w written, err error) {
	w.Formula, w.Trees = f, nil
	for _, e := range f.Trees {
		w.Trees = append(w.Trees, f.wide(e, f.tableOf(e)))
	}
	w.nodes = schedule.Nodes(w.Trees...)
	w.operands, w.heads, w.params = schedule.Operands(w.nodes), schedule.Heads(w.nodes), schedule.Params(w.nodes)
	group, wrong := schedule.GroupOf(w.nodes)
	if wrong != "" {
		return w, fmt.Errorf("write %s: %s", w, wrong)
	}
	w.turns, w.groups = group.Turns, group.Row || len(w.heads) > 0
	switch {
	case group.Head != "":
		w.group = 1 + slices.Index(w.heads, group.Head)
	case !group.Row && len(w.heads) > 0:
		w.group = 1
	}
	if n := 1 + len(w.params) + len(w.heads); n > kernels.MostNumbers {
		return w, fmt.Errorf("write %s: it has %d numbers and %d widths of heads, of which a kernel takes %d", w,
			len(w.params), len(w.heads), kernels.MostNumbers-1)
	}
	return w, nil
}

// String is the formulas, one after the other.
func (f Formula) String() string { return strings.Join(f.lines(nil), ", then ") }

// wide is a tree in which all nodes that know a head have its width.
func (f Formula) wide(e schedule.Expr, table string) schedule.Expr {
	of := e.Of
	e.Of = nil
	for _, x := range of {
		e.Of = append(e.Of, f.wide(x, table))
	}
	switch e.Do {
	case schedule.DoHeadRow, schedule.DoCos, schedule.DoSin, schedule.DoPairCos, schedule.DoPairSin:
		if e.Group == "" {
			e.Group = f.Width(e.Tensor)
		}
	case schedule.DoTurn, schedule.DoPairs:
		if e.Group == "" {
			e.Group = f.Width(table)
		}
	}
	return e
}

// tableOf is the first table of a tree.
func (f Formula) tableOf(e schedule.Expr) string {
	for _, o := range schedule.Operands(schedule.Nodes(e)) {
		if o.Lies == schedule.OfTable {
			return o.Tensor
		}
	}
	return ""
}

// headOf is the number of an operand's width of heads.
func (w *written) headOf(o schedule.Operand) int {
	i := slices.IndexFunc(w.nodes, func(n schedule.Node) bool { return n.Tensor == o.Tensor })
	return 1 + slices.Index(w.heads, w.nodes[i].Group)
}

// letters name operands.
const letters = "abcdefghijklmnopqrstuvw"

// letter is the name of an operand in a kernel: x, a, b and so on. If the kernel itself makes X, its name is another.
func (w *written) letter(tensor string) string {
	i := slices.IndexFunc(w.operands, func(o schedule.Operand) bool { return o.Tensor == tensor })
	switch {
	case i < 0 && w.behind != nil:
		return w.behind.Dst
	case i < 0:
		return "x"
	case w.behind != nil:
		i += w.behind.operands
	}
	name := letters[i%len(letters):][:1]
	if i >= len(letters) {
		name += fmt.Sprint(i / len(letters))
	}
	return name
}

// lines are the trees as text, with name's name for each tensor.
func (f Formula) lines(name func(string) string) (list []string) {
	for _, e := range f.Trees {
		if name != nil {
			e = renamed(e, name)
		}
		list = append(list, e.String())
	}
	return list
}

// renamed is a tree of tensors with other names.
func renamed(e schedule.Expr, name func(string) string) schedule.Expr {
	of := e.Of
	e.Of = nil
	for _, x := range of {
		e.Of = append(e.Of, renamed(x, name))
	}
	if e.Tensor != "" {
		e.Tensor = name(e.Tensor)
	}
	return e
}
