package schedule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Node is an operation of trees that are written out one after the other: its operands are earlier nodes.
type Node struct {
	Expr       // without its Of
	Of   []int // the nodes of its operands, by number
}

// Nodes writes trees out, each as the X of the next. A node comes after its operands, equal nodes come once, and the
// last node is the result.
func Nodes(trees ...Expr) []Node {
	w := &writing{list: make([]Node, 0, 8), numbers: map[string]int{}}
	x := w.add(Node{})
	for _, e := range trees {
		x = w.write(e, x)
	}
	return w.upTo(x)
}

// writing is a list of nodes, and the number of each by its key.
type writing struct {
	list    []Node
	numbers map[string]int
	key     []byte // memory for the next one
}

// write adds the nodes of a tree, given the node of its X, and returns the last one.
func (w *writing) write(e Expr, x int) int {
	if e.Do == DoX {
		return x
	}
	n := Node{Expr: e}
	n.Expr.Of = nil
	if len(e.Of) > 0 {
		n.Of = make([]int, len(e.Of))
	}
	for i, of := range e.Of {
		n.Of[i] = w.write(of, x)
	}
	return w.add(n)
}

func (w *writing) add(n Node) int {
	w.key = n.appendKey(w.key[:0], n.Tensor)
	at, known := w.numbers[string(w.key)]
	if !known {
		at = len(w.list)
		w.list, w.numbers[string(w.key)] = append(w.list, n), at
	}
	return at
}

// upTo lists the nodes on which a node depends, in the order in which it reads them, and the node itself.
func (w *writing) upTo(last int) []Node {
	list, numbers := make([]Node, 0, len(w.list)), make([]int, len(w.list)) // numbers count from 1
	var visit func(i int) int
	visit = func(i int) int {
		if numbers[i] == 0 {
			n := w.list[i]
			n.Of = slices.Clone(n.Of)
			for j, of := range n.Of {
				n.Of[j] = visit(of)
			}
			list = append(list, n)
			numbers[i] = len(list)
		}
		return numbers[i] - 1
	}
	visit(last)
	return list
}

// key is a text of all of a node's fields, with a word for its tensor.
func (n Node) key(tensor string) string { return string(n.appendKey(nil, tensor)) }

func (n Node) appendKey(key []byte, tensor string) []byte {
	if n.Do == DoX {
		key = append(key, 'x')
	}
	key = append(key, n.Do...)
	for _, of := range n.Of {
		key = strconv.AppendInt(append(key, ' '), int64(of), 10)
	}
	switch n.Do {
	case DoNumber:
		key = fmt.Appendf(key, " %08x", math.Float32bits(float32(n.Number)))
	case DoBelow:
		key = fmt.Append(append(key, ' '), n.Number)
	}
	for _, more := range [...]string{tensor, n.Name, string(n.Group)} {
		if more != "" {
			key = append(append(key, ' '), more...)
		}
	}
	return key
}

// Key is the canonical text of nodes. Two lists have one key where they do the same with operands of the same layouts,
// whose names may differ. An operand is written as its number among Operands.
func Key(list []Node) string {
	operands, key := Operands(list), []byte{}
	for i, n := range list {
		tensor := ""
		if i := slices.IndexFunc(operands, func(o Operand) bool { return o.Tensor == n.Tensor }); i >= 0 {
			tensor = "#" + strconv.Itoa(i)
		}
		if i > 0 {
			key = append(key, "; "...)
		}
		key = n.appendKey(key, tensor)
	}
	return string(key)
}

// Operand is a tensor that a tree reads, and the rule that pairs its elements with the elements of the result.
type Operand struct {
	Tensor string
	Lies   Lies
}

// Lies says which element of an operand goes with an element of the result.
type Lies string

// The ways in which operands lie.
const (
	InPlace  Lies = "in place" // the element at the same place, of a tensor with the same axes
	ByColumn Lies = "by column"
	ByRow    Lies = "by row"
	ByHead   Lies = "by column of a head"
	OfTable  Lies = "of a table" // an element of the same row, by column of a head
)

// axes are the letters of an operand with this layout, given the letters of the result.
func (l Lies) axes(out string) string {
	last := max(len(out)-1, 0)
	switch l {
	case InPlace:
		return out
	case ByColumn:
		return out[last:]
	case ByRow:
		return out[:last]
	case ByHead:
		return string(headsLetter)
	case OfTable:
		return out[max(last-1, 0):last] + string(headsLetter)
	}
	return ""
}

// Operands are the tensors that nodes read beside X, each once, in the order of the nodes.
func Operands(list []Node) (all []Operand) {
	for _, n := range list {
		all = n.operands(all)
	}
	return all
}

// operands adds the operands of a tree that are not in the list yet, in the order of its nodes.
func (e Expr) operands(all []Operand) []Operand {
	for _, of := range e.Of {
		all = of.operands(all)
	}
	o := Operand{e.Tensor, does[e.Do].lies}
	if o.Lies != "" && !slices.Contains(all, o) {
		all = append(all, o)
	}
	return all
}

// Reach is how much of a row an element of the result depends on.
type Reach int

// Reaches, each further than the one before.
const (
	Local  Reach = iota // the same place
	InHead              // a head
	InRow               // the whole row
)

// InRow says that the result of a tree reaches whole rows.
func (e Expr) InRow() bool { return ReachOf(Nodes(e)) == InRow }

// ReachOf is how far a result reaches.
func ReachOf(list []Node) (r Reach) {
	for _, n := range list {
		switch {
		case !does[n.Do].gathers:
		case n.Group == "":
			r = InRow
		default:
			r = max(r, InHead)
		}
	}
	return r
}

// Group says which other columns an element of the result depends on.
type Group struct {
	Row   bool   // all columns
	Head  Extent // the columns of a head of this width
	Turns Do     // DoTurn or DoPairs: the partner column
}

// mostHeads is the greatest number of widths of heads that a kernel takes.
const mostHeads = 3

// GroupOf is the group of a result. Wrong says why no kernel makes the result, if none does: a kernel takes groups of
// one size.
func GroupOf(list []Node) (g Group, wrong string) {
	for _, n := range list {
		turns := n.Do == DoTurn || n.Do == DoPairs
		switch {
		case !does[n.Do].gathers:
			continue
		case turns && g.Turns != "" && g.Turns != n.Do:
			return g, "it turns columns in two ways"
		case n.Group != "" && g.Head != "" && g.Head != n.Group:
			return g, fmt.Sprintf("it is of heads of %s and of %s columns", g.Head, n.Group)
		}
		if g.Row = g.Row || n.Group == ""; n.Group != "" {
			g.Head = n.Group
		}
		if turns {
			g.Turns = n.Do
		}
	}
	switch heads := Heads(list); {
	case g.Row && g.Head != "":
		wrong = "it is of rows and of heads"
	case len(heads) > mostHeads:
		wrong = fmt.Sprintf("it knows heads of %d widths, and a kernel of %d", len(heads), mostHeads)
	}
	return g, wrong
}

// Heads are the widths of all heads in nodes, each once, in the order of the nodes.
func Heads(list []Node) (widths []Extent) {
	for _, n := range list {
		if n.Group != "" && !slices.Contains(widths, n.Group) {
			widths = append(widths, n.Group)
		}
	}
	return widths
}

// Params are the numbers of the Shape that nodes read, each once, in the order of the nodes.
func Params(list []Node) (names []string) {
	for _, n := range list {
		if n.Do == DoParam && !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
	}
	return names
}
