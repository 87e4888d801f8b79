package templates

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// writing is one piece as it is written.
type writing struct {
	*coder
	piece Piece
	made  []string // the text of each line's value
	names map[place]string
}

// place is a node for an element, or for the partner of the element in a pair.
type place struct {
	node   int
	turned bool
}

// piece writes the function that computes a node for an element: a line for each node, each node once.
func (c *coder) piece(name string, node int) Piece {
	w := writing{coder: c, piece: Piece{Name: name}, names: map[place]string{}}
	w.piece.Result = w.value(place{node, false})
	for i, text := range w.made {
		if i == len(w.made)-1 { // the node itself
			w.piece.Result = text
			break
		}
		w.piece.Lines = append(w.piece.Lines, fmt.Sprintf("const float t%d = %s;", i+1, text))
	}
	return w.piece
}

// param adds a parameter, with the arguments that callers pass for it.
func (w *writing) param(typ, name, arg, alone string) string {
	text := typ + " " + name
	if !slices.Contains(w.piece.Params, text) {
		w.piece.Params = append(w.piece.Params, text)
		w.piece.Args = append(w.piece.Args, arg)
		w.piece.Alone = append(w.piece.Alone, alone)
	}
	return name
}

// value is the name of a node's value, after the line that computes it.
func (w *writing) value(at place) string {
	if name, known := w.names[at]; known {
		return name
	}
	n := w.nodes[at.node]
	name := ""
	switch {
	case n.Do == schedule.DoNumber:
		name = number(n.Number)
	case n.Do == schedule.DoParam:
		name = w.param("float", w.coder.param(n.Name), w.coder.param(n.Name), w.coder.param(n.Name))
	case w.groups && !w.varies[at.node]:
		name = w.param("float", w.constant(at.node), w.constant(at.node), "")
	case len(n.Of) == 0:
		name = w.operand(at)
	default:
		text := w.operation(n, at)
		w.made = append(w.made, text)
		name = fmt.Sprintf("t%d", len(w.made))
	}
	w.names[at] = name
	return name
}

// operation is the operation of a node, applied to the values of its operands.
func (w *writing) operation(n schedule.Node, at place) string {
	if n.Do == schedule.DoTurn || n.Do == schedule.DoPairs {
		x := w.value(place{n.Of[0], !at.turned})
		first, arg := "first", "j < "+w.width(n.Group)+" / 2"
		if n.Do == schedule.DoPairs {
			first, arg = "even", "j % 2 == 0"
		}
		w.param("bool", first, arg, "")
		if at.turned {
			return first + " ? " + x + " : " + negative(x)
		}
		return first + " ? " + negative(x) + " : " + x
	}
	args := []string{}
	for _, of := range n.Of {
		args = append(args, w.value(place{of, at.turned}))
	}
	if n.Do == schedule.DoBelow {
		name := fmt.Sprintf("below%g", n.Number)
		j := "j"
		if at.turned {
			name, j = name+"_turned", w.partner()
		}
		w.param("bool", name, fmt.Sprintf("%s < %g", w.column(n.Group, j), n.Number), "")
		return name + " ? " + args[0] + " : " + args[1]
	}
	return w.written.operation(n, args)
}

// operand is the parameter for a leaf.
func (w *writing) operand(at place) string {
	l := w.leaf(at.node, at.turned)
	if !slices.Contains(w.piece.leaves, l.Name) {
		w.piece.leaves = append(w.piece.leaves, l.Name)
	}
	k, index := "k", map[schedule.Lies]string{schedule.InPlace: "at", "": "at", schedule.ByColumn: "at % p.columns",
		schedule.ByRow: "at / p.columns"}[l.Lies]
	unit := l.Name
	if l.paired {
		unit, k = w.leaf(at.node, false).Name, "k ^ 1"
		if !slices.Contains(w.piece.leaves, unit) {
			w.piece.leaves = append(w.piece.leaves, unit)
		}
	}
	return w.param("float", l.Name, fmt.Sprintf("element(%s, %s)", unit, k),
		fmt.Sprintf("element_at<%s>(p.%s, %s)", l.Type, l.Field, index))
}

// leaf returns a leaf of the formula, and adds it where it is new.
func (c *coder) leaf(node int, turned bool) Leaf {
	n := c.nodes[node]
	l := Leaf{Field: c.letter(n.Tensor), Type: typeOf(c.Types[n.Tensor]), Lies: schedule.InPlace}
	for _, o := range c.operands {
		if o.Tensor == n.Tensor && n.Tensor != "" {
			l.Lies = o.Lies
		}
	}
	l.Name = l.Field
	if l.Lies == schedule.OfTable {
		sine := n.Do == schedule.DoSin || n.Do == schedule.DoPairSin
		l.Name += map[bool]string{false: "_cos", true: "_sin"}[sine]
	}
	l.Same = c.groups && n.Do == schedule.DoColumn
	j := "j"
	if turned && !l.Same {
		l.Name += "_turned"
		j, l.paired = c.partner(), c.turns == schedule.DoPairs
	}
	l.At = c.at(n, j)
	l.Apart = n.Do == schedule.DoPairCos || n.Do == schedule.DoPairSin
	if !l.paired && !slices.ContainsFunc(c.code.Leaves, func(o Leaf) bool { return o.Name == l.Name }) {
		c.code.Leaves = append(c.code.Leaves, l)
	}
	return l
}

// partner is the column that forms a pair with column j.
func (c *coder) partner() string {
	if c.turns == schedule.DoPairs {
		return "(j ^ 1)"
	}
	return "turned(j, " + c.code.Wide + ")"
}

// at is the place of the element for column j of a group.
func (c *coder) at(n schedule.Node, j string) string {
	switch n.Do {
	case schedule.DoRow:
		if c.code.Heads {
			return "column + " + j
		}
		return j
	case schedule.DoColumn:
		return "row"
	case schedule.DoHeadRow:
		return c.column(n.Group, j)
	case schedule.DoCos, schedule.DoSin:
		w := c.width(n.Group)
		half := map[bool]string{true: w + " / 2 + "}[n.Do == schedule.DoSin]
		return fmt.Sprintf("row * %s + %s%s %% (%s / 2)", w, half, c.column(n.Group, j), w)
	case schedule.DoPairCos, schedule.DoPairSin:
		w := c.width(n.Group)
		half := map[bool]string{true: w + " / 2 + "}[n.Do == schedule.DoPairSin]
		return fmt.Sprintf("row * %s + %s%s / 2", w, half, c.column(n.Group, j))
	}
	return "at + " + j
}

// width is the field with the given width of heads.
func (c *coder) width(e schedule.Extent) string { return c.code.Widths[slices.Index(c.heads, e)] }

// column is the column, in a head of the given width, of column j of a group.
func (c *coder) column(e schedule.Extent, j string) string {
	switch w := c.width(e); {
	case c.group > 0 && w == c.code.Wide:
		return j
	case c.group > 0:
		return "(column + " + j + ") % " + w
	default:
		return j + " % " + w
	}
}
